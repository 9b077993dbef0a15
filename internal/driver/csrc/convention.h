/* SPDX-License-Identifier: MIT */

/* Calls of a core that show whether it keeps the registers it must keep. */

#ifndef NGCC_CONVENTION_H
#define NGCC_CONVENTION_H

#include <stdint.h>

#include "core.h"

#if defined(__x86_64__)
#define CONVENTION_VALUES 9 /* rbx, rbp, r12-r15, flags, MXCSR, x87 control word */
#else
#define CONVENTION_VALUES 20 /* x19-x29, d8-d15, FPCR */
#endif

/* The assembly knows this layout. */
struct calls {
    uint64_t function, args[4];
    uint64_t count;    /* calls left to do */
    uint64_t returned; /* all values that were returned, or-ed */
    uint64_t values[CONVENTION_VALUES];
    uint64_t right[CONVENTION_VALUES]; /* what values must be afterwards */
};

/* Prepares that many calls, at least one, on one message. */
void calls_prepare(struct calls *c, const struct core *core, const unsigned char *msg,
                   uint64_t msg_bits, unsigned char *digest, uint64_t count);

/*
 * Does them. The loop is assembly: a C function would save and restore for the
 * core what the core should have kept.
 */
void calls_run(struct calls *c) __asm__("ngcc_calls_run");

/* Fails with ST_RETURNED or ST_CONVENTION. */
void calls_check(const struct calls *c);

/* Ends the slow mix of old and new vector instructions that a core may leave. */
void vectors_reset(void);

#endif
