/* SPDX-License-Identifier: MIT */

/* Reads a byte before the message. */

#include "toy.h"

CRYPTHASH
{
    (void)digest_bits;
    toy_hash(msg, bits, digest);
    if (msg != NULL) {
        (void)((const volatile unsigned char *)msg)[-1];
    }
    return 0;
}
