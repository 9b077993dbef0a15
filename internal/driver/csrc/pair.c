/* SPDX-License-Identifier: MIT */

/*
 * Two cores in one process, timed in blocks of four batches, A B B A or B A A B
 * (docs/comparison.md, "Taking figures").
 *
 * While a core runs, all that its figures are made of is out of its reach: struct
 * pair, the figures taken so far and the digests expected cannot be touched, and
 * in a timed call the driver's variables can only be read. What is left to it:
 * the stack frame and registers of the batch that runs (the counter's value at
 * its start among them), message and digest, the other core's data, the C
 * library's, and system calls (mprotect, /proc/self/mem). Code that goes so far
 * is not found out here, but by the confirmation in separate processes.
 */

#define _GNU_SOURCE
#include "pair.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "busy.h"
#include "convention.h"
#include "counter.h"
#include "crash.h"
#include "input.h"
#include "message.h"
#include "own.h"
#include "pair_state.h"
#include "reply.h"

#define MAX_CALLS ((uint64_t)1 << 24)
#define HELD 4          /* usual batches that one batch counts for at most */
#define CALIBRATIONS 4 /* alternating batches that compare the sides' speeds */

/*
 * Sides less than this many times apart make equally many calls: with other
 * numbers, what a batch's first call costs more would count differently.
 */
#define SAME_CALLS 4.0

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(struct pair *p)
{
    uint64_t z = p->random += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* What is read while struct pair cannot be. */
static struct counter counter;
static struct region figures, variables;
static int variables_locked;

static void protect(const struct region *r, int protection)
{
    if (mprotect(r->arena, r->size, protection) != 0) {
        _exit(2); /* no failure can be reported: see prepare_failure */
    }
}

/* One call each way, of few pages: it costs microseconds on a virtual machine. */
static void lock(void)
{
    protect(&figures, PROT_NONE);
}

static void unlock(void)
{
    protect(&figures, PROT_READ | PROT_WRITE);
}

/* For all timed calls: nothing writes variables between them. */
static void lock_variables(void)
{
    variables_locked = 1;
    protect(&variables, PROT_READ);
}

static void unlock_variables(void)
{
    protect(&variables, PROT_READ | PROT_WRITE);
    variables_locked = 0;
}

/* Whatever is locked where a failure is found: its side must be read and told. */
static void prepare_failure(void)
{
    const struct pair *p = (const struct pair *)(void *)figures.arena;

    unlock();
    if (variables_locked) {
        unlock_variables();
    }
    reply_side((char)(p->running < 0 ? 0 : 'A' + p->running));
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

/* Times calls on the next message, and checks digest and registers. */
static void batch(struct pair *p, int side, uint64_t calls, struct batch *result)
{
    struct side *s = &p->sides[side];
    uint64_t number = p->number, start_ns, stop_ns;
    struct reading start, stop;
    struct calls c;

    p->number = (number + 1) % s->expected.count;
    p->running = side;
    store64(p->message.object, number);
    calls_prepare(&c, &s->core, p->message.object, 8 * p->o->bytes, p->digest.object, calls);
    lock();
    vectors_reset();
    start_ns = clock_ns();
    counter_read(&counter, &start);
    calls_run(&c);
    counter_read(&counter, &stop);
    stop_ns = clock_ns();
    vectors_reset();
    unlock();
    calls_check(&c);
    expected_check(&s->expected, number, p->digest.object);
    p->running = -1;
    check_cpu(p);
    counter_check(&counter, &start, &stop);
    result->ticks = stop.ticks - start.ticks;
    result->ns = stop_ns - start_ns;
    result->instructions = stop.instructions - start.instructions;
}

/* Batches of so many calls and their least, in ticks and ns. */
static void least_batch(struct pair *p, int side, uint64_t calls, struct batch *least)
{
    struct batch b;

    batch(p, side, calls, &b);
    least->ticks = b.ticks < least->ticks ? b.ticks : least->ticks;
    least->ns = b.ns < least->ns ? b.ns : least->ns;
}

/* The calls after which a batch of this side is long enough, not to the last call. */
static uint64_t enough_calls(struct pair *p, int side)
{
    uint64_t calls;

    for (calls = 1; calls < MAX_CALLS; calls *= 2) {
        struct batch b = {UINT64_MAX, UINT64_MAX, 0};
        least_batch(p, side, calls, &b);
        if (2 * b.ticks >= p->o->batch_ticks && 2 * b.ns >= p->o->batch_ns) {
            break;
        }
    }
    return calls;
}

static uint64_t share(uint64_t wanted, uint64_t calls, uint64_t least)
{
    return (wanted * calls + least - 1) / (least > 0 ? least : 1);
}

/*
 * Sets the calls of both sides' batches from their least times in alternating
 * batches. Sides of about one speed get equally many, so that what a batch costs
 * by itself cancels out.
 */
static void calibrate(struct pair *p)
{
    struct batch least[2] = {{UINT64_MAX, UINT64_MAX, 0}, {UINT64_MAX, UINT64_MAX, 0}};
    uint64_t calls[2];
    double a, b;
    int i, side;

    for (side = 0; side < 2; side++) {
        calls[side] = enough_calls(p, side);
    }
    for (i = 0; i < CALIBRATIONS; i++) {
        least_batch(p, i % 2, calls[i % 2], &least[i % 2]);
        least_batch(p, 1 - i % 2, calls[1 - i % 2], &least[1 - i % 2]);
    }
    for (side = 0; side < 2; side++) {
        uint64_t by_ns = share(p->o->batch_ns, calls[side], least[side].ns);
        uint64_t by_ticks = share(p->o->batch_ticks, calls[side], least[side].ticks);
        p->sides[side].calls = by_ns > by_ticks ? by_ns : by_ticks;
    }
    a = (double)p->sides[0].calls;
    b = (double)p->sides[1].calls;
    if (a < SAME_CALLS * b && b < SAME_CALLS * a) {
        p->sides[0].calls = p->sides[1].calls = (uint64_t)(a > b ? a : b);
    }
    for (side = 0; side < 2; side++) {
        p->sides[side].usual_ns = least[side].ns * p->sides[side].calls / calls[side] + 1;
    }
}

/* One probe lies between two blocks: it is after the one and before the other. */
static void probe_busy(struct pair *p)
{
    p->probes[p->count] = busy_probe(&counter, p->probe_rounds);
}

/* Held batches, and batches far shorter than calibrated, are treated as timing.c does. */
static void time_blocks(struct pair *p)
{
    uint64_t spent = 0;

    probe_busy(p);
    while (spent < p->o->min_ns) {
        struct block *b = &p->blocks[p->count];
        int i;
        b->first = (int)(next_random(p) >> 63);
        for (i = 0; i < 4; i++) {
            int side = i % 3 == 0 ? b->first : 1 - b->first;
            struct side *s = &p->sides[side];
            batch(p, side, s->calls, &b->batches[i]);
            s->instructions += b->batches[i].instructions;
            spent += b->batches[i].ns < HELD * s->usual_ns ? b->batches[i].ns : HELD * s->usual_ns;
        }
        p->count++;
        probe_busy(p);
        if (p->count == p->room) {
            p->count = spent = 0;
            p->sides[0].calls *= 4;
            p->sides[1].calls *= 4;
            p->sides[0].instructions = p->sides[1].instructions = 0;
            probe_busy(p);
        }
    }
}

/* A part of the region figures. */
static void *take(unsigned char **at, uint64_t size)
{
    void *p = *at;

    *at += (size + 63) / 64 * 64;
    return p;
}

static void map(struct region *r, const char *name, uint64_t size)
{
    region_open(r, name, (size_t)size);
    region_place(r, r->size, PLACE_START);
    memset(r->arena, 0xa5, r->size); /* no page is new when something is timed */
}

/* Maps everything and reads the digests; after this nothing is allocated. */
static struct pair *prepare(const struct time_options *o)
{
    const uint64_t bytes[2] = {(uint64_t)o->digest_bits / 8, (uint64_t)o->digest_bits_b / 8};
    /* Twice what is needed when batches take as long as they should. */
    const uint64_t room = o->min_ns / o->batch_ns / 2 + 64;
    const uint64_t own_b = o->expected_b != 0;
    struct pair *p;
    unsigned char *at;
    int i;

    map(&figures, "driver's figures", sizeof *p + room * (sizeof(struct block) + 8) + 1024 +
                                          o->expected * bytes[0] + o->expected_b * bytes[1]);
    at = figures.arena;
    p = take(&at, sizeof *p);
    memset(p, 0, sizeof *p);
    p->o = o;
    p->counter = &counter;
    p->cpu = p->running = -1;
    p->random = o->seed;
    p->room = room;
    p->blocks = take(&at, room * sizeof *p->blocks);
    p->probes = take(&at, (room + 1) * sizeof *p->probes);
    for (i = 0; i < 2; i++) {
        struct expected *e = &p->sides[i].expected;
        e->bytes = (size_t)bytes[i];
        e->count = i == 1 && own_b ? o->expected_b : o->expected;
        if (i == 0 || own_b) {
            e->digests = take(&at, e->count * e->bytes);
            expected_read(e);
        } else {
            e->digests = p->sides[0].expected.digests;
        }
    }
    input_forget();
    own_find(&variables);
    vectors_reset(); /* which writes a variable the first time */
    map(&p->message, "message", o->bytes);
    map(&p->digest, "digest", MAX_DIGEST_BYTES);
    message_fill(p->message.object, 8 * o->bytes, RULE_NUMBERED, 0);
    return p;
}

/* The driver itself ends by _exit only. Reported here, before what exit does next
 * writes to the locked variables. */
static void core_exited(void)
{
    reply_fail_text(ST_EXITED, "it called exit");
}

/* Loads both sides in random order; a constructor is locked out like a call. */
static void load(struct pair *p)
{
    const struct core *a = &p->sides[0].core, *b = &p->sides[1].core;
    int i;

    p->loaded_first = (int)(next_random(p) >> 63);
    if (atexit(core_exited) != 0) {
        reply_fail_text(ST_DRIVER, "no memory for an exit handler");
    }
    crash_forbid(&figures, &variables);
    reply_on_failure(prepare_failure);
    for (i = 0; i < 2; i++) {
        int side = i == 0 ? p->loaded_first : 1 - p->loaded_first;
        const struct time_options *o = p->o;
        struct core core;

        p->running = side;
        lock();
        core_load(&core, side == 0 ? o->library : o->library_b, side == 0 ? o->api : o->api_b,
                  side == 0 ? o->digest_bits : o->digest_bits_b);
        unlock();
        p->sides[side].core = core;
    }
    p->running = -1;
    if ((a->crypthash != NULL && a->crypthash == b->crypthash) ||
        (a->crypto_hash != NULL && a->crypto_hash == b->crypto_hash)) {
        reply_fail_text(ST_DRIVER, "both sides are one library in memory: they need two files");
    }
}

static void warm_up(struct pair *p)
{
    struct batch b;
    uint64_t i;
    int side;

    for (i = 0; i < p->o->warmup; i++) {
        for (side = 0; side < 2; side++) {
            batch(p, side, 1, &b);
        }
    }
}

static void check_memory(struct pair *p)
{
    uint64_t most = p->sides[0].expected.count + p->sides[1].expected.count;
    int side;

    for (side = 0; side < 2; side++) {
        uint64_t calls = p->sides[side].calls / 4 + 1;
        struct bench b;
        memset(&b, 0, sizeof b);
        b.core = p->sides[side].core;
        b.counter = counter;
        b.message = p->message.object;
        b.bits = 8 * p->o->bytes;
        b.digest = p->digest.object;
        p->running = side;
        lock();
        vectors_reset();
        bench_memory(&b, calls, most);
        unlock();
    }
    p->running = -1;
}

void pair_cores(const struct time_options *o)
{
    struct pair *p;

    counter_open(&counter, o->counter, o->cpu);
    p = prepare(o);
    load(p);
    check_cpu(p);
    p->overhead = bench_overhead(&counter);
    crash_phase(PHASE_HASH, 8 * o->bytes); /* the driver's part of it is small */
    lock_variables();
    warm_up(p);
    calibrate(p);
    p->probe_rounds = busy_rounds(&counter);
    time_blocks(p);
    unlock_variables();
    check_memory(p);
    reply_on_failure(NULL);
    pair_print(p);
}
