/* SPDX-License-Identifier: MIT */

/* Modes time and probe. */

#ifndef NGCC_TIMING_H
#define NGCC_TIMING_H

#include <stdint.h>

#include "core.h"

struct time_options {
    const char *library, *api, *counter;
    int digest_bits;
    int cpu;              /* that this process must be on, -1: any */
    uint64_t bytes;       /* of each message, 8 at least */
    uint64_t min_ns;      /* least time in batches altogether */
    uint64_t batch_ns;    /* least time of a batch */
    uint64_t batch_ticks; /* least ticks of a batch */
    uint64_t warmup;      /* calls before anything is timed */
    uint64_t expected;    /* digests on standard input, hex lines: of messages 0, 1, ... */
    int probe;            /* mode time: busy probes around each batch */
    /* Mode pair: the other side, and the seed of its random orders. */
    const char *library_b, *api_b;
    int digest_bits_b;
    uint64_t expected_b; /* digests that follow the first ones; 0: the same ones */
    uint64_t seed;
};

/* Times a core and prints what protocol.go reads; never returns. */
void time_core(const struct time_options *o) __attribute__((noreturn));

/* Prints the counter that time_core would use and its rate; never returns. */
void probe(const char *counter, int cpu) __attribute__((noreturn));

#endif
