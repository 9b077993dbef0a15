/* SPDX-License-Identifier: MIT */

#define _GNU_SOURCE
#include "timing.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "busy.h"
#include "counter.h"
#include "expected.h"
#include "message.h"
#include "output.h"
#include "reply.h"

#define MAX_CALLS ((uint64_t)1 << 24)
#define HELD 4 /* usual batches that one batch counts for at most */

struct timing {
    const struct time_options *o;
    struct bench bench;
    struct expected expected;
    struct batch *batches;   /* all pages touched before anything is timed */
    uint64_t *probes;        /* around the batches: one more than those; NULL: none */
    uint64_t probe_rounds;
    uint64_t room, count;
    uint64_t calls;    /* a batch */
    uint64_t usual_ns; /* of a batch when nothing disturbs it */
    int cpu, migrated;
    uint64_t baseline_rss, peak_rss;
    double overhead, empty_call;
};

static void *allocate(uint64_t size)
{
    void *p = NULL;

    /* Whole pages, so that alignment is the same in every process. */
    if (posix_memalign(&p, 4096, (size_t)size + 4096) != 0) {
        reply_fail_text(ST_DRIVER, "no memory for the timing");
    }
    memset(p, 0xa5, (size_t)size + 4096);
    return p;
}

/* A line "key: <n> kB" of /proc/self/status, in bytes. */
static uint64_t status_bytes(const char *key)
{
    char text[8192], *at;
    ssize_t n = -1;
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        n = read(fd, text, sizeof text - 1);
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    at = strstr(text, key);
    if (at == NULL) {
        reply_fail_text(ST_DRIVER, "/proc/self/status does not tell the memory use");
    }
    return strtoull(at + strlen(key), NULL, 10) * 1024;
}

static void check_cpu(struct timing *t)
{
    int cpu = sched_getcpu();

    if (t->o->cpu >= 0 && cpu != t->o->cpu) {
        reply_fail_text(ST_DRIVER, "this process is not on the CPU that it was given");
    }
    t->migrated |= t->cpu >= 0 && cpu != t->cpu;
    t->cpu = cpu;
}

/* Prepares all memory, so that what grows afterwards is the core's. */
static void prepare(struct timing *t)
{
    const struct time_options *o = t->o;

    t->bench.bits = 8 * o->bytes;
    t->bench.message = allocate(o->bytes);
    message_fill(t->bench.message, t->bench.bits, RULE_NUMBERED, 0);
    t->bench.digest = allocate(t->bench.core.digest_bytes);
    t->expected.bytes = t->bench.core.digest_bytes;
    t->expected.count = o->expected;
    t->expected.digests = allocate(o->expected * t->bench.core.digest_bytes);
    /* Four times what is needed when batches take as long as they should. */
    t->room = 4 * (o->min_ns / o->batch_ns) + 64;
    t->batches = allocate(t->room * sizeof *t->batches);
    if (o->probe) {
        t->probes = allocate((t->room + 1) * sizeof *t->probes);
    }
    expected_read(&t->expected);
}

/* Doubles the calls of a batch until even its quickest of three is long enough. */
static void calibrate(struct timing *t)
{
    uint64_t calls = 1, last = t->o->warmup, wanted_ns = t->o->batch_ns, wanted = t->o->batch_ticks;
    uint64_t least_ns = 0;

    while (calls < MAX_CALLS) {
        struct batch least = {UINT64_MAX, UINT64_MAX, 0};
        int i;
        for (i = 0; i < 3; i++) {
            struct batch b;
            bench_batch(&t->bench, calls, last % t->o->expected, 0, &b);
            expected_check(&t->expected, last % t->o->expected, t->bench.digest);
            last++;
            least.ticks = b.ticks < least.ticks ? b.ticks : least.ticks;
            least.ns = b.ns < least.ns ? b.ns : least.ns;
            if (b.ticks < wanted || b.ns < wanted_ns) {
                break;
            }
        }
        least_ns = least.ns;
        if (least.ticks >= wanted && least.ns >= wanted_ns) {
            break;
        }
        /* Near the aim take what is missing and a little more, else double. */
        if (2 * least.ticks >= wanted && 2 * least.ns >= wanted_ns) {
            calls += calls / 8 + 1;
        } else {
            calls *= 2;
        }
    }
    t->calls = calls;
    t->usual_ns = least_ns;
}

/* One probe lies between two batches: it is after the one and before the other. */
static void probe_busy(struct timing *t)
{
    if (t->probes != NULL) {
        t->probes[t->count] = busy_probe(&t->bench.counter, t->probe_rounds);
    }
}

/* A batch during which the process was held (for 100 ms and more on a busy
 * virtual machine) counts as a few usual ones, or it would be all of the figure.
 * Where batches turn out far shorter than calibrated, the time is spent anew on
 * longer ones. */
static void time_batches(struct timing *t)
{
    uint64_t spent = 0, k = 0, most = HELD * t->usual_ns;

    probe_busy(t);
    while (spent < t->o->min_ns) {
        struct batch *b = &t->batches[t->count];
        bench_batch(&t->bench, t->calls, k, 0, b);
        expected_check(&t->expected, k, t->bench.digest);
        check_cpu(t);
        spent += b->ns < most ? b->ns : most;
        k = (k + 1) % t->o->expected;
        t->count++;
        probe_busy(t);
        if (t->count == t->room) {
            t->count = spent = 0;
            t->calls *= 4;
            probe_busy(t);
        }
    }
}

static void run(struct timing *t)
{
    struct batch b;
    uint64_t i;

    t->overhead = bench_overhead(&t->bench.counter);
    t->empty_call = bench_empty_call(&t->bench);
    (void)status_bytes("VmRSS:"); /* its own pages count from now on */
    t->baseline_rss = status_bytes("VmRSS:");
    for (i = 0; i < t->o->warmup; i++) {
        bench_batch(&t->bench, 1, i % t->o->expected, 0, &b);
        expected_check(&t->expected, i % t->o->expected, t->bench.digest);
    }
    calibrate(t);
    t->probe_rounds = t->probes != NULL ? busy_rounds(&t->bench.counter) : 0;
    time_batches(t);
    t->peak_rss = status_bytes("VmHWM:");
    bench_memory(&t->bench, t->calls / 4 + 1, t->o->expected);
}

static void print(const struct timing *t)
{
    const struct counter *c = &t->bench.counter;
    FILE *out = output_open();
    uint64_t i;

    fprintf(out, "ngcc-time 1\ncounter %s\nnote %s\n", c->name, c->note.s);
    fprintf(out, "cpu %d\nmigrated %d\ninstructions %d\n", t->cpu, t->migrated,
            c->has_instructions);
    fprintf(out, "overhead-ticks %.3f\nempty-call-ticks %.3f\n", t->overhead, t->empty_call);
    fprintf(out, "baseline-rss %" PRIu64 "\npeak-rss %" PRIu64 "\n", t->baseline_rss,
            t->peak_rss);
    if (t->probes != NULL) {
        fprintf(out, "probe-rounds %" PRIu64 "\n", t->probe_rounds);
    }
    fprintf(out, "batches %" PRIu64 "\n", t->count);
    for (i = 0; i < t->count; i++) {
        const struct batch *b = &t->batches[i];
        fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, t->calls, b->ticks, b->ns,
                b->instructions);
        if (t->probes != NULL) {
            fprintf(out, " %" PRIu64 " %" PRIu64, t->probes[i], t->probes[i + 1]);
        }
        fputc('\n', out);
    }
    output_end(out);
}

void time_core(const struct time_options *o)
{
    struct timing t;

    memset(&t, 0, sizeof t);
    t.o = o;
    t.cpu = -1;
    check_cpu(&t);
    counter_open(&t.bench.counter, o->counter, o->cpu);
    core_load(&t.bench.core, o->library, o->api, o->digest_bits);
    prepare(&t);
    run(&t);
    print(&t);
    _exit(0);
}

void probe(const char *counter, int cpu)
{
    struct counter c;
    double rate;
    FILE *out;

    counter_open(&c, counter, cpu);
    rate = counter_rate(&c);
    out = output_open();
    fprintf(out, "ngcc-probe 1\ncounter %s\nnote %s\nrate %.0f\n", c.name, c.note.s, rate);
    output_end(out);
    _exit(0);
}
