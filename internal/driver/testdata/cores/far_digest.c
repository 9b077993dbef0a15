/* SPDX-License-Identifier: MIT */

/* Writes past the digest beyond what a guard page would catch when it is far from it. */

#include "toy.h"

CRYPTHASH
{
    static int calls;

    (void)digest_bits;
    toy_hash(msg, bits, digest);
    if (calls++ == 1) {
        ((volatile unsigned char *)digest)[100] ^= 1;
    }
    return 0;
}
