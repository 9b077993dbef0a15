/* SPDX-License-Identifier: MIT */

/* Which of the machine's performance monitoring units counts a CPU's cycles. */

#ifndef NGCC_PMU_TYPE_H
#define NGCC_PMU_TYPE_H

#include <stddef.h>
#include <stdint.h>

/* Tests put a made-up tree before every path of /proc and /sys. */
#ifndef NGCC_ROOT
#define NGCC_ROOT ""
#endif

struct pmu {
    char name[64]; /* below /sys/bus/event_source/devices; empty: the kernel shows none */
    uint32_t type; /* for perf_event_attr, or the high half of its config */
    int units;     /* core PMUs of the machine: more than one on hybrid and big.LITTLE */
};

/* The unit of that CPU; all zero where there is none. */
void pmu_find(struct pmu *p, int cpu);

/* 1 when a list such as "0-3,8" holds the CPU. */
int cpu_listed(const char *list, int cpu);

/*
 * Reads a small file into s (size at least 1) as a string without its last line
 * end; empty when it cannot be read. Returns 1 when anything was read.
 */
int read_line(const char *path, char *s, size_t size);

#endif
