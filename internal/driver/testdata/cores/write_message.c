/* SPDX-License-Identifier: MIT */

/* Pads the message in place. */

#include "toy.h"

CRYPTHASH
{
    (void)digest_bits;
    if (bits >= 8) {
        volatile unsigned char *m = (volatile unsigned char *)(uintptr_t)msg;
        m[bits / 8 - 1] |= 0;
    }
    toy_hash(msg, bits, digest);
    return 0;
}
