/* SPDX-License-Identifier: MIT */

/*
 * Two cores taking turns in one process: blocks of four batches, A B B A or
 * B A A B at random, each block between two busy probes. While a core runs, the
 * results and the expected digests are out of its reach. What stays within it:
 * this program's stack, registers and variables, and its code.
 */

#define _GNU_SOURCE
#include "pair.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"
#include "busy.h"
#include "convention.h"
#include "crash.h"
#include "expected.h"
#include "guard.h"
#include "message.h"
#include "output.h"
#include "reply.h"

#define MAX_CALLS ((uint64_t)1 << 24)
#define HELD 4 /* usual batches that one batch counts for at most, as in mode time */

struct side {
    char name;
    struct core core;
    struct expected expected;
    uint64_t calls;    /* a batch */
    uint64_t usual_ns; /* of a batch when nothing disturbs it */
    uint64_t instructions;
};

struct block {
    uint64_t first;             /* which side: 0 or 1 */
    struct batch batches[2][2]; /* of each side, in the order they ran */
    uint64_t before, after;     /* probes */
};

struct pair {
    const struct time_options *o;
    struct counter counter;
    unsigned char *message, *digest;
    uint64_t bits;
    struct side sides[2];
    struct region results, digests; /* forbidden while a core runs */
    struct block *blocks;           /* in results */
    uint64_t room, count;
    uint64_t probe_rounds, probe; /* the last one's ticks */
    uint64_t random;
    int loaded_first, cpu, migrated;
    double overhead;
};

/* splitmix64 */
static uint64_t next_random(struct pair *p)
{
    uint64_t z = p->random += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void reach(struct pair *p, int protection)
{
    if (mprotect(p->results.arena, p->results.size, protection) != 0 ||
        mprotect(p->digests.arena, p->digests.size, protection) != 0) {
        reply_fail_text(ST_DRIVER, "the results cannot be protected");
    }
}

static void check_cpu(struct pair *p)
{
    int cpu = sched_getcpu();

    if (p->o->cpu >= 0 && cpu != p->o->cpu) {
        reply_fail_text(ST_DRIVER, "this process is not on the CPU that it was given");
    }
    p->migrated |= p->cpu >= 0 && cpu != p->cpu;
    p->cpu = cpu;
}

/* Times calls of a side on message k and checks all that it left. */
static void run_batch(struct pair *p, struct side *s, uint64_t calls, uint64_t k,
                      struct batch *result)
{
    struct reading start, stop;
    struct calls c;
    uint64_t start_ns, stop_ns;

    store64(p->message, k);
    calls_prepare(&c, &s->core, p->message, p->bits, p->digest, calls);
    reply_side(s->name);
    reach(p, PROT_NONE);
    crash_phase(PHASE_HASH, p->bits);
    vectors_reset();
    start_ns = clock_ns();
    counter_read(&p->counter, &start);
    calls_run(&c);
    counter_read(&p->counter, &stop);
    stop_ns = clock_ns();
    crash_phase(PHASE_DRIVER, 0);
    reach(p, PROT_READ | PROT_WRITE);
    calls_check(&c);
    expected_check(&s->expected, k, p->digest);
    reply_side(0);
    counter_check(&p->counter, &start, &stop);
    result->ticks = stop.ticks - start.ticks;
    result->ns = stop_ns - start_ns;
    result->instructions = stop.instructions - start.instructions;
}

/* Raises the calls of a batch until even its quickest of three is long enough. */
static void calibrate(struct pair *p, struct side *s)
{
    uint64_t calls = 1, k = 0;

    for (;;) {
        struct batch least = {UINT64_MAX, UINT64_MAX, 0};
        int i;
        for (i = 0; i < 3; i++) {
            struct batch b;
            run_batch(p, s, calls, k, &b);
            k = (k + 1) % s->expected.count;
            least.ticks = b.ticks < least.ticks ? b.ticks : least.ticks;
            least.ns = b.ns < least.ns ? b.ns : least.ns;
        }
        s->calls = calls;
        s->usual_ns = least.ns;
        if ((least.ticks >= p->o->batch_ticks && least.ns >= p->o->batch_ns) ||
            calls >= MAX_CALLS) {
            return;
        }
        /* Near the aim take what is missing and a little more, else double. */
        if (2 * least.ticks >= p->o->batch_ticks && 2 * least.ns >= p->o->batch_ns) {
            calls += calls / 8 + 1;
        } else {
            calls *= 2;
        }
    }
}

/* Sides of about one speed make equally many calls. */
static void calibrate_both(struct pair *p)
{
    struct side *a = &p->sides[0], *b = &p->sides[1];
    uint64_t least, most;

    calibrate(p, a);
    calibrate(p, b);
    least = a->calls < b->calls ? a->calls : b->calls;
    most = a->calls < b->calls ? b->calls : a->calls;
    if (4 * most <= 5 * least) {
        a->calls = b->calls = most;
    }
}

/* One block; returns the nanoseconds that it counts for. */
static uint64_t run_block(struct pair *p, uint64_t k)
{
    struct block b;
    uint64_t spent = 0;
    int i, done[2] = {0, 0};

    memset(&b, 0, sizeof b);
    b.first = next_random(p) >> 63;
    b.before = p->probe;
    for (i = 0; i < 4; i++) {
        /* 0 1 1 0: the outer batches are the first side's */
        int outer = i == 0 || i == 3;
        int which = outer ? (int)b.first : 1 - (int)b.first;
        struct side *s = &p->sides[which];
        struct batch *batch = &b.batches[which][done[which]++];
        uint64_t most = HELD * s->usual_ns;
        run_batch(p, s, s->calls, (k + (uint64_t)i) % s->expected.count, batch);
        s->instructions += batch->instructions;
        spent += batch->ns < most ? batch->ns : most;
    }
    check_cpu(p);
    p->probe = busy_probe(&p->counter, p->probe_rounds);
    b.after = p->probe;
    p->blocks[p->count++] = b;
    return spent;
}

static void run_blocks(struct pair *p)
{
    uint64_t spent = 0, k = 0;

    p->probe = busy_probe(&p->counter, p->probe_rounds);
    while (spent < p->o->min_ns) {
        spent += run_block(p, k);
        k += 4;
        if (p->count == p->room) {
            /* Far shorter batches than calibrated: spend the time on longer ones. */
            p->count = spent = 0;
            p->sides[0].calls *= 4;
            p->sides[1].calls *= 4;
            p->sides[0].instructions = p->sides[1].instructions = 0;
        }
    }
}

static void load(struct pair *p, int which)
{
    const struct time_options *o = p->o;
    struct side *s = &p->sides[which];

    reply_side(s->name);
    core_load(&s->core, which == 0 ? o->library : o->library_b, which == 0 ? o->api : o->api_b,
              which == 0 ? o->digest_bits : o->digest_bits_b);
    reply_side(0);
}

static void load_both(struct pair *p)
{
    const struct core *a = &p->sides[0].core, *b = &p->sides[1].core;

    p->loaded_first = (int)(next_random(p) >> 63);
    load(p, p->loaded_first);
    load(p, 1 - p->loaded_first);
    if ((a->crypthash != NULL && a->crypthash == b->crypthash) ||
        (a->crypto_hash != NULL && a->crypto_hash == b->crypto_hash)) {
        reply_fail_text(ST_DRIVER, "both sides are one library: give two files");
    }
}

static unsigned char *allocate(uint64_t size)
{
    void *m = NULL;

    if (posix_memalign(&m, 4096, (size_t)size + 4096) != 0) {
        reply_fail_text(ST_DRIVER, "no memory for the timing");
    }
    memset(m, 0xa5, (size_t)size + 4096);
    return m;
}

static void prepare(struct pair *p)
{
    const struct time_options *o = p->o;
    uint64_t longest = 0, all = 0;
    unsigned char *at;
    int i;

    for (i = 0; i < 2; i++) {
        struct expected *e = &p->sides[i].expected;
        e->bytes = p->sides[i].core.digest_bytes;
        e->count = i == 1 && o->expected_b > 0 ? o->expected_b : o->expected;
        longest = e->bytes > longest ? e->bytes : longest;
        all += e->bytes * e->count;
    }
    p->bits = 8 * o->bytes;
    p->message = allocate(o->bytes);
    message_fill(p->message, p->bits, RULE_NUMBERED, 0);
    p->digest = allocate(longest);
    p->room = o->min_ns / o->batch_ns + 64;
    region_open(&p->results, "results", p->room * sizeof *p->blocks);
    region_place(&p->results, p->results.size, PLACE_START);
    region_open(&p->digests, "expected digests", all);
    region_place(&p->digests, p->digests.size, PLACE_START);
    crash_forbid(&p->results, &p->digests);
    p->blocks = (struct block *)(void *)p->results.arena;
    memset(p->blocks, 0, p->room * sizeof *p->blocks); /* its pages are there from now on */
    at = p->digests.arena;
    for (i = 0; i < 2; i++) {
        struct expected *e = &p->sides[i].expected;
        e->digests = at;
        if (i == 0 || o->expected_b > 0) {
            expected_read(e);
        } else {
            memcpy(e->digests, p->sides[0].expected.digests, e->bytes * e->count);
        }
        at += e->bytes * e->count;
    }
}

/* What mode time does at its end: a core that remembers its last message. */
static void check_memory(struct pair *p)
{
    int i;

    for (i = 0; i < 2; i++) {
        struct side *s = &p->sides[i];
        struct bench b;
        memset(&b, 0, sizeof b);
        b.core = s->core;
        b.counter = p->counter;
        b.message = p->message;
        b.bits = p->bits;
        b.digest = p->digest;
        reply_side(s->name);
        bench_memory(&b, s->calls / 4 + 1, s->expected.count);
        reply_side(0);
    }
}

static void print(const struct pair *p)
{
    const struct counter *c = &p->counter;
    FILE *out = output_open();
    uint64_t i;

    fprintf(out, "ngcc-pair 1\ncounter %s\nnote %s\n", c->name, c->note.s);
    fprintf(out, "cpu %d\nmigrated %d\ninstructions %d\n", p->cpu, p->migrated, c->has_instructions);
    fprintf(out, "overhead-ticks %.3f\nloaded-first %c\n", p->overhead, "AB"[p->loaded_first]);
    fprintf(out, "calls-a %" PRIu64 "\ncalls-b %" PRIu64 "\n", p->sides[0].calls, p->sides[1].calls);
    fprintf(out, "instructions-a %" PRIu64 "\ninstructions-b %" PRIu64 "\n", p->sides[0].instructions,
            p->sides[1].instructions);
    fprintf(out, "probe-rounds %" PRIu64 "\nblocks %" PRIu64 "\n", p->probe_rounds, p->count);
    for (i = 0; i < p->count; i++) {
        const struct block *b = &p->blocks[i];
        const struct batch *x = b->batches[0], *y = b->batches[1];
        fprintf(out, "%c %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, "AB"[b->first], x[0].ticks,
                x[1].ticks, y[0].ticks, y[1].ticks);
        fprintf(out, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, x[0].ns, x[1].ns, y[0].ns, y[1].ns);
        fprintf(out, " %" PRIu64 " %" PRIu64 "\n", b->before, b->after);
    }
    output_end(out);
}

void pair_cores(const struct time_options *o)
{
    struct pair p;
    struct batch b;
    uint64_t i;

    memset(&p, 0, sizeof p);
    p.o = o;
    p.cpu = -1;
    p.random = o->seed;
    p.sides[0].name = 'A';
    p.sides[1].name = 'B';
    check_cpu(&p);
    counter_open(&p.counter, o->counter, o->cpu);
    load_both(&p);
    prepare(&p);
    p.overhead = bench_overhead(&p.counter);
    for (i = 0; i < 2 * o->warmup; i++) {
        struct side *s = &p.sides[i % 2];
        run_batch(&p, s, 1, i / 2 % s->expected.count, &b);
    }
    calibrate_both(&p);
    p.probe_rounds = busy_rounds(&p.counter);
    run_blocks(&p);
    check_memory(&p);
    print(&p);
    _exit(0);
}
