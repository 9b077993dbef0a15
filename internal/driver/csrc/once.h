/* SPDX-License-Identifier: MIT */

/* Mode once: a few calls without timing, to be run under a tool that counts. */

#ifndef NGCC_ONCE_H
#define NGCC_ONCE_H

/*
 * once --core LIBRARY --api API --digest-bits N --bytes N --warmup N --calls N
 *
 * Loads a core, makes the warm-up calls, then the calls to count, each kind on
 * the numbered messages 0, 1, ..., and prints what once.go reads: the digest of
 * the last one. Never returns.
 */
void once(int argc, char **argv) __attribute__((noreturn));

#endif
