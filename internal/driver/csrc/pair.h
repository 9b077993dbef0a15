/* SPDX-License-Identifier: MIT */

/* Mode pair: two cores side by side, by docs/comparison.md. */

#ifndef NGCC_PAIR_H
#define NGCC_PAIR_H

#include "timing.h"

/* Times two cores in turn and prints what pair.go reads; never returns. */
void pair_cores(const struct time_options *o) __attribute__((noreturn));

#endif
