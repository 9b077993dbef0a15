/* SPDX-License-Identifier: MIT */

/* Mode steady: how steadily this CPU works when nothing is asked of it. */

#ifndef NGCC_STEADY_H
#define NGCC_STEADY_H

#include "timing.h"

/* Works for 21 windows of 50 ms and prints what steady.go reads; never returns. */
void steady(const struct time_options *o) __attribute__((noreturn));

#endif
