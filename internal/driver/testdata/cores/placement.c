/* SPDX-License-Identifier: MIT */

/* The digest depends on how the message is aligned. */

#include "toy.h"

CRYPTHASH
{
    (void)digest_bits;
    toy_hash(msg, bits, digest);
    digest[5] ^= (uintptr_t)msg % 64 != 0;
    return 0;
}
