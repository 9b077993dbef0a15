/* SPDX-License-Identifier: MIT */

/* A group of perf events on this thread, as perf_event_open(2) and mmap(2) give it. */

#ifndef NGCC_PERF_GROUP_H
#define NGCC_PERF_GROUP_H

#include <stdint.h>

#include "pmu_type.h"

enum event { CYCLES, INSTRUCTIONS, BRANCH_MISSES, EVENTS };

/* What all events of a group have in common. */
struct shape {
    int cpu, user; /* user: asked for reading in user space */
    uint32_t pmu;  /* 0: the kernel chooses, for a given CPU that of its kind */
};

struct group {
    struct shape shape;
    int fd[EVENTS];     /* -1: not in the group */
    void *page[EVENTS]; /* struct perf_event_mmap_page, or NULL */
};

/*
 * Opens the leader, which counts cycles, as the kernel allows it: on one of
 * several kinds of PMU by its number (AArch64 since Linux 6.6), or as the CPU
 * makes the kernel choose; for the CPU alone or, where user access wants that,
 * for any. Returns 0 or errno. All of the group is empty before.
 */
int group_lead(struct group *g, const struct pmu *pmu, int cpu, int user);

/* Opens one more event. Returns 0 or errno. */
int group_add(struct group *g, enum event e);

/* Maps each event's page; 0 and errno when that fails. */
int group_map(struct group *g);

void group_close(struct group *g);

#endif
