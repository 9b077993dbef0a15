/* SPDX-License-Identifier: MIT */

/* Lets floating point flush small numbers to zero, for speed, and leaves it so. */

#include "toy.h"

CRYPTHASH
{
    toy_hash(msg, bits, digest);
#if defined(__x86_64__)
    uint32_t v;
    __asm__ volatile("stmxcsr %0" : "=m"(v));
    v |= 0x8000;
    __asm__ volatile("ldmxcsr %0" : : "m"(v));
#else
    uint64_t v;
    __asm__ volatile("mrs %0, fpcr" : "=r"(v));
    v |= 1u << 24;
    __asm__ volatile("msr fpcr, %0" : : "r"(v));
#endif
    return digest_bits != 256;
}
