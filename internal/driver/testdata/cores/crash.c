/* SPDX-License-Identifier: MIT */

/* Writes to address 0. */

#include "toy.h"

CRYPTHASH
{
    unsigned char *volatile nowhere = NULL;

    (void)digest_bits;
    toy_hash(msg, bits, digest);
    *(volatile unsigned char *)nowhere = 1;
    return 0;
}
