/* SPDX-License-Identifier: MIT */

/* What mode pair knows of its two sides. */

#ifndef NGCC_PAIR_STATE_H
#define NGCC_PAIR_STATE_H

#include <stdint.h>

#include "bench.h"
#include "expected.h"
#include "guard.h"
#include "timing.h"

struct block {
    int first;
    struct batch batches[4]; /* in the order they ran */
};

struct side {
    struct core core;
    struct expected expected;
    uint64_t calls;        /* a batch */
    uint64_t usual_ns;     /* of a batch when nothing disturbs it */
    uint64_t instructions; /* of all batches */
};

/* Lies at the start of the region figures. */
struct pair {
    const struct time_options *o;
    const struct counter *counter;
    struct region message, digest;
    struct side sides[2];
    uint64_t random;
    int loaded_first, cpu, migrated;
    int running; /* which side */
    uint64_t probe_rounds, number;
    uint64_t room, count;
    double overhead;
    struct block *blocks; /* these two lie behind, as do the digests */
    uint64_t *probes;     /* around the blocks: one more than those */
};

/* Prints what pair.go reads; never returns. */
void pair_print(const struct pair *p) __attribute__((noreturn));

#endif
