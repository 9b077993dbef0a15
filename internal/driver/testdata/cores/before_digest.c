/* SPDX-License-Identifier: MIT */

/* Writes three bytes before the start of the digest. */

#include "toy.h"

CRYPTHASH
{
    (void)digest_bits;
    toy_hash(msg, bits, digest);
    *((volatile unsigned char *)digest - 3) ^= 1;
    return 0;
}
