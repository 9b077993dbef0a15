/* SPDX-License-Identifier: MIT */

/* Writes a byte past the end of the digest. */

#include "toy.h"

CRYPTHASH
{
    (void)digest_bits;
    toy_hash(msg, bits, digest);
    ((volatile unsigned char *)digest)[32] = 1;
    return 0;
}
