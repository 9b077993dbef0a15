/* SPDX-License-Identifier: MIT */

/* A short piece of work that a busy sibling thread slows. */

#ifndef NGCC_BUSY_H
#define NGCC_BUSY_H

#include <stdint.h>

#include "counter.h"

/*
 * Rounds of a probe: the same on every run of a host, since probes of different
 * processes are compared. Longer where the counter is coarse.
 */
uint64_t busy_rounds(const struct counter *c);

/* Ticks that so many rounds take now. */
uint64_t busy_probe(const struct counter *c, uint64_t rounds);

#endif
