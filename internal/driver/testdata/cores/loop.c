/* SPDX-License-Identifier: MIT */

/* Never ends. */

#include "toy.h"

CRYPTHASH
{
    volatile int forever = 1;

    (void)digest_bits;
    toy_hash(msg, bits, digest);
    while (forever) {
    }
    return 0;
}
