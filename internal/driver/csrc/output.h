/* SPDX-License-Identifier: MIT */

/* Results as lines of text. */

#ifndef NGCC_OUTPUT_H
#define NGCC_OUTPUT_H

#include <stdio.h>

/* The stream that the Go side reads; opened when no core runs any more. */
FILE *output_open(void);

/* The last line. Ends the process when nobody reads, or when it cannot be written. */
void output_end(FILE *out) __attribute__((noreturn));

#endif
