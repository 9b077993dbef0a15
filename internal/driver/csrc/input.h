/* SPDX-License-Identifier: MIT */

/* Standard input, taken out of the core's reach. */

#ifndef NGCC_INPUT_H
#define NGCC_INPUT_H

#include <stddef.h>

/* Moves standard input elsewhere and puts /dev/null in its place. */
void input_open(void);

/*
 * Reads exactly n bytes. Returns 0 when the input had ended before the first;
 * ends the process when it ends later, since then nobody waits for an answer.
 */
int input_read(void *data, size_t n);

/* Overwrites what is left of the input in memory: a core may look for it. */
void input_forget(void);

#endif
