/* SPDX-License-Identifier: MIT */

/* The counters that time a core, best first. */

#ifndef NGCC_COUNTER_H
#define NGCC_COUNTER_H

#include <stdint.h>

#include "pmu_type.h"
#include "reply.h"

enum counter_kind { COUNTER_CORE_CYCLES, COUNTER_TSC, COUNTER_CNTVCT, COUNTER_CLOCK };

struct counter {
    enum counter_kind kind;
    const char *name;     /* as host.Counter in Go */
    int perf_fd;          /* the group's leader, else -1 */
    const char *how;      /* of core-cycles: "rdpmc" or "mrs" in user space, "read" by system call */
    int has_instructions; /* user-mode instructions are counted beside cycles */
    int has_branch_misses;
    struct pmu pmu;  /* of core-cycles */
    void *page[3];   /* of cycles, instructions, branch misses; NULL: by system call or not at all */
    struct text note; /* how it is read, why better ways were passed over, what else to know */
};

struct reading {
    uint64_t ticks, instructions, enabled, running; /* the last two in nanoseconds */
    uint64_t branch_misses;
};

/*
 * Opens the counter that is wanted, or with "auto" the best there is, for this
 * thread on that CPU (-1: any). Fails with ST_COUNTER when a named one is not
 * there, saying why and what to do.
 */
void counter_open(struct counter *c, const char *wanted, int cpu);

/* Reads the counter, ordered against the code before and after. */
void counter_read(const struct counter *c, struct reading *r);

/* Fails with ST_COUNTER when the counter did not count all the time from a to b. */
void counter_check(const struct counter *c, const struct reading *a, const struct reading *b);

/* CLOCK_MONOTONIC_RAW in nanoseconds. */
uint64_t clock_ns(void);

/* Ticks a second, measured for ten milliseconds of work. */
double counter_rate(const struct counter *c);

#endif
