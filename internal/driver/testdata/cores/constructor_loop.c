/* SPDX-License-Identifier: MIT */

/* Hangs while it is loaded. */

#include "toy.h"

__attribute__((constructor)) static void start(void)
{
    volatile int forever = 1;

    while (forever) {
    }
}

CRYPTHASH
{
    (void)digest_bits;
    toy_hash(msg, bits, digest);
    return 0;
}
