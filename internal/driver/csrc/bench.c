/* SPDX-License-Identifier: MIT */

#include "bench.h"

#include <string.h>

#include "crash.h"
#include "reply.h"

/* A core whose new messages cost more than this many times a repeated one remembers. */
#define MEMORY_RATIO 1.5
#define MEMORY_REPETITIONS 3
#define MEMORY_BATCHES 5

/* Calls on one message. */
static int call_same(const struct bench *b, uint64_t calls)
{
    const struct core core = b->core;
    uint64_t i;
    int returned = 0;

    for (i = 0; i < calls; i++) {
        returned |= core_call(&core, b->message, b->bits, b->digest);
    }
    return returned;
}

/* Calls each on a message whose number is step more than the last one's. */
static int call_numbered(const struct bench *b, uint64_t calls, uint64_t number, uint64_t step)
{
    const struct core core = b->core;
    uint64_t i;
    int returned = 0;

    for (i = 0; i < calls; i++) {
        store64(b->message, number);
        number += step;
        returned |= core_call(&core, b->message, b->bits, b->digest);
    }
    return returned;
}

/* What bench_batch does, and bench_memory with a store before every call. */
static void run(struct bench *b, uint64_t calls, uint64_t first, uint64_t step, int numbered,
                struct batch *result)
{
    struct reading start, stop;
    uint64_t start_ns, stop_ns;
    int returned;

    store64(b->message, first);
    crash_phase(PHASE_HASH, b->bits);
    start_ns = clock_ns();
    counter_read(&b->counter, &start);
    returned = numbered ? call_numbered(b, calls, first, step) : call_same(b, calls);
    counter_read(&b->counter, &stop);
    stop_ns = clock_ns();
    crash_phase(PHASE_DRIVER, 0);
    if (returned != 0) {
        core_returned(returned);
    }
    counter_check(&b->counter, &start, &stop);
    result->ticks = stop.ticks - start.ticks;
    result->ns = stop_ns - start_ns;
    result->instructions = stop.instructions - start.instructions;
}

void bench_batch(struct bench *b, uint64_t calls, uint64_t first, uint64_t step,
                 struct batch *result)
{
    run(b, calls, first, step, step != 0, result);
}

/* Least ticks a call over a few batches, on one message (step 0) or on new ones. */
static double memory_ticks(struct bench *b, uint64_t calls, uint64_t *number, uint64_t step,
                           double least)
{
    struct batch batch;
    double ticks;

    run(b, calls, *number, step, 1, &batch);
    *number += calls;
    ticks = (double)batch.ticks / (double)calls;
    return ticks < least ? ticks : least;
}

void bench_memory(struct bench *b, uint64_t calls, uint64_t fresh)
{
    double same = 0, new = 0;
    struct text t = {{0}, 0};
    int repetition, i;

    for (repetition = 0; repetition < MEMORY_REPETITIONS; repetition++) {
        same = new = 1e300;
        for (i = 0; i < MEMORY_BATCHES; i++) {
            same = memory_ticks(b, calls, &fresh, 0, same);
            new = memory_ticks(b, calls, &fresh, 1, new);
        }
        if (new <= MEMORY_RATIO * same) {
            return;
        }
    }
    text_add(&t, "same message ");
    text_num(&t, (uint64_t)(same + 0.5));
    text_add(&t, " ticks a call, fresh messages ");
    text_num(&t, (uint64_t)(new + 0.5));
    reply_fail(ST_REMEMBERS, &t);
}

double bench_overhead(const struct counter *c)
{
    struct reading a, b;
    uint64_t least = UINT64_MAX;
    int i;

    for (i = 0; i < 200; i++) {
        counter_read(c, &a);
        counter_read(c, &b);
        if (b.ticks >= a.ticks && b.ticks - a.ticks < least) {
            least = b.ticks - a.ticks;
        }
    }
    return (double)least;
}

static int empty_crypthash(int bits, const unsigned char *msg, unsigned long long msg_bits,
                           unsigned char *digest)
{
    (void)bits;
    (void)msg;
    (void)msg_bits;
    (void)digest;
    return 0;
}

static int empty_crypto_hash(unsigned char *digest, const unsigned char *msg,
                             unsigned long long msg_bytes)
{
    (void)digest;
    (void)msg;
    (void)msg_bytes;
    return 0;
}

double bench_empty_call(const struct bench *b)
{
    const uint64_t calls = 10000;
    struct bench empty = *b;
    uint64_t least = UINT64_MAX;
    int i;

    if (empty.core.crypthash != NULL) {
        empty.core.crypthash = empty_crypthash;
    } else {
        empty.core.crypto_hash = empty_crypto_hash;
    }
    for (i = 0; i < 5; i++) {
        struct batch batch;
        run(&empty, calls, 0, 0, 0, &batch);
        least = batch.ticks < least ? batch.ticks : least;
    }
    return (double)least / (double)calls;
}
