/* SPDX-License-Identifier: MIT */

/* Core cycles, instructions and branch misses of user mode, from perf_event_open(2). */

#ifndef NGCC_PERF_H
#define NGCC_PERF_H

#include "counter.h"

/*
 * Opens the counters for this thread on that CPU (-1: any) and tries them, first
 * as this process reads them itself (rdpmc on x86, mrs on AArch64), then by
 * system call. Returns 1, or 0 with the reason and what to do in why. Sets
 * perf_fd, how, has_instructions and has_branch_misses, and adds to the note.
 */
int perf_open(struct counter *c, int cpu, struct text *why);

/* Reads the group; fails with ST_COUNTER when the kernel could not keep it counting. */
void perf_read(const struct counter *c, struct reading *r);

/* 1 when the group counted all the time from a to b, and something; else 0, and why. */
int perf_valid(const struct counter *c, const struct reading *a, const struct reading *b,
               struct text *why);

#endif
