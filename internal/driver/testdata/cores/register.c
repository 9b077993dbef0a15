/* SPDX-License-Identifier: MIT */

/* Leaves a register changed that every function must keep. */

#include "toy.h"

CRYPTHASH
{
    toy_hash(msg, bits, digest);
#if defined(__x86_64__)
    __asm__ volatile("addq $1, %%r14" : : : "memory");
#else
    __asm__ volatile("add x24, x24, #1" : : : "memory");
#endif
    return digest_bits != 256;
}
