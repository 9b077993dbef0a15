/* SPDX-License-Identifier: MIT */

/* Reads a byte more than the message has. */

#include "toy.h"

CRYPTHASH
{
    (void)digest_bits;
    toy_hash(msg, bits, digest);
    (void)((const volatile unsigned char *)msg)[bits / 8];
    return 0;
}
