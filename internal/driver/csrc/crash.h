/* SPDX-License-Identifier: MIT */

/* Turns a fatal signal into a reply that says what the core did. */

#ifndef NGCC_CRASH_H
#define NGCC_CRASH_H

#include <stdint.h>

struct region;

enum phase { PHASE_DRIVER, PHASE_LOAD, PHASE_HASH };

/* Handles SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT on a stack of its own. */
void crash_install(void);

/* What runs from now on; msg_bits matters in PHASE_HASH. */
void crash_phase(enum phase phase, uint64_t msg_bits);

/* The guarded buffers of the call to come, or NULL. */
void crash_watch(const struct region *message, const struct region *digest);

/* What the core may not touch at all in the calls to come; regions or NULL. */
void crash_forbid(const struct region *a, const struct region *b);

#endif
