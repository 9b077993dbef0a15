/* SPDX-License-Identifier: MIT */

/* Timed calls of one core on numbered messages. */

#ifndef NGCC_BENCH_H
#define NGCC_BENCH_H

#include <stdint.h>

#include "core.h"
#include "counter.h"

struct bench {
    struct core core;
    struct counter counter;
    unsigned char *message; /* perf message; the first 8 bytes carry a number */
    uint64_t bits;
    unsigned char *digest;
};

struct batch {
    uint64_t ticks, ns, instructions;
};

/*
 * Times that many calls. The message's number is first before the first call
 * and grows by step after each; with step 0 it is only written once. Fails with
 * ST_RETURNED or ST_COUNTER.
 */
void bench_batch(struct bench *b, uint64_t calls, uint64_t first, uint64_t step,
                 struct batch *result);

/*
 * Fails with ST_REMEMBERS when the core is much faster on a message that it saw
 * last than on new ones. The numbers of the new ones begin at fresh.
 */
void bench_memory(struct bench *b, uint64_t calls, uint64_t fresh);

/* Least ticks between two readings with nothing between them. */
double bench_overhead(const struct counter *c);

/* Ticks a call of a function that does nothing, called like a core. */
double bench_empty_call(const struct bench *b);

#endif
