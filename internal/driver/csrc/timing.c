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
#include "counter.h"
#include "crash.h"
#include "input.h"
#include "message.h"
#include "reply.h"

#define MAX_CALLS ((uint64_t)1 << 24)
#define HELD 4 /* usual batches that one batch counts for at most */

struct timing {
    const struct time_options *o;
    struct bench bench;
    unsigned char *expected; /* o->expected digests, one after the other */
    struct batch *batches;   /* all pages touched before anything is timed */
    uint64_t room, count;
    uint64_t calls;    /* a batch */
    uint64_t usual_ns; /* of a batch when nothing disturbs it */
    uint64_t previous; /* number of the message before this one */
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

static int hex_digit(unsigned char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void read_expected(struct timing *t)
{
    uint64_t i, n = t->o->expected * t->bench.core.digest_bytes;
    size_t bytes = t->bench.core.digest_bytes;
    unsigned char pair[2], end;

    for (i = 0; i < n; i++) {
        if (!input_read(pair, 2) || hex_digit(pair[0]) < 0 || hex_digit(pair[1]) < 0) {
            reply_fail_text(ST_DRIVER, "an expected digest is not hex of the digest's length");
        }
        t->expected[i] = (unsigned char)(hex_digit(pair[0]) * 16 + hex_digit(pair[1]));
        if (i % bytes == bytes - 1 && (!input_read(&end, 1) || end != '\n')) {
            reply_fail_text(ST_DRIVER, "an expected digest is longer than the core's");
        }
    }
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

/* The digest that the last batch left must be that of message k. */
static void check_digest(struct timing *t, uint64_t k)
{
    size_t bytes = t->bench.core.digest_bytes;
    uint64_t before = t->previous;
    struct text why = {{0}, 0};

    t->previous = k;
    if (memcmp(t->bench.digest, t->expected + k * bytes, bytes) == 0) {
        memset(t->bench.digest, 0xa5, bytes);
        return;
    }
    if (before != k && memcmp(t->bench.digest, t->expected + before * bytes, bytes) == 0) {
        reply_fail_text(ST_REMEMBERS, "it gave the digest of the message before");
    }
    text_add(&why, "of the timed message ");
    text_num(&why, k);
    reply_fail(ST_WRONG, &why);
}

/* Prepares all memory, so that what grows afterwards is the core's. */
static void prepare(struct timing *t)
{
    const struct time_options *o = t->o;

    t->bench.bits = 8 * o->bytes;
    t->bench.message = allocate(o->bytes);
    message_fill(t->bench.message, t->bench.bits, RULE_NUMBERED, 0);
    t->bench.digest = allocate(t->bench.core.digest_bytes);
    t->expected = allocate(o->expected * t->bench.core.digest_bytes);
    /* Four times what is needed when batches take as long as they should. */
    t->room = 4 * (o->min_ns / o->batch_ns) + 64;
    t->batches = allocate(t->room * sizeof *t->batches);
    read_expected(t);
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
            check_digest(t, last % t->o->expected);
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

/* A batch during which the process was held (for 100 ms and more on a busy
 * virtual machine) counts as a few usual ones, or it would be all of the figure.
 * Where batches turn out far shorter than calibrated, the time is spent anew on
 * longer ones. */
static void time_batches(struct timing *t)
{
    uint64_t spent = 0, k = 0, most = HELD * t->usual_ns;

    while (spent < t->o->min_ns) {
        struct batch *b = &t->batches[t->count];
        bench_batch(&t->bench, t->calls, k, 0, b);
        check_digest(t, k);
        check_cpu(t);
        spent += b->ns < most ? b->ns : most;
        k = (k + 1) % t->o->expected;
        if (++t->count == t->room) {
            t->count = spent = 0;
            t->calls *= 4;
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
        check_digest(t, i % t->o->expected);
    }
    calibrate(t);
    time_batches(t);
    t->peak_rss = status_bytes("VmHWM:");
    bench_memory(&t->bench, t->calls / 4 + 1, t->o->expected);
}

/* Ends the process when nobody reads, or when it cannot be written. */
static void finish(FILE *out)
{
    fputs("end\n", out);
    _exit(fflush(out) == 0 && !ferror(out) ? 0 : 2);
}

static FILE *open_output(void)
{
    FILE *out = fdopen(REPLY_FD, "w");

    if (out == NULL) {
        _exit(2);
    }
    return out;
}

static void print(const struct timing *t)
{
    const struct counter *c = &t->bench.counter;
    FILE *out = open_output();
    uint64_t i;

    fprintf(out, "ngcc-time 1\ncounter %s\nnote %s\n", c->name, c->note.s);
    fprintf(out, "cpu %d\nmigrated %d\ninstructions %d\n", t->cpu, t->migrated,
            c->has_instructions);
    fprintf(out, "overhead-ticks %.3f\nempty-call-ticks %.3f\n", t->overhead, t->empty_call);
    fprintf(out, "baseline-rss %" PRIu64 "\npeak-rss %" PRIu64 "\n", t->baseline_rss,
            t->peak_rss);
    fprintf(out, "batches %" PRIu64 "\n", t->count);
    for (i = 0; i < t->count; i++) {
        const struct batch *b = &t->batches[i];
        fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", t->calls, b->ticks,
                b->ns, b->instructions);
    }
    finish(out);
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
    out = open_output();
    fprintf(out, "ngcc-probe 1\ncounter %s\nnote %s\nrate %.0f\n", c.name, c.note.s, rate);
    finish(out);
    _exit(0);
}
