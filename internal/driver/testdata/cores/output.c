/* SPDX-License-Identifier: MIT */

/* Prints without end. */

#include <stdio.h>

#include "toy.h"

CRYPTHASH
{
    (void)digest_bits;
    toy_hash(msg, bits, digest);
    for (;;) {
        printf("debugging, message of %llu bits\n", bits);
    }
}
