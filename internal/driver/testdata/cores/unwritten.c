/* SPDX-License-Identifier: MIT */

/* Leaves the last quarter of the digest as it was. */

#include <string.h>

#include "toy.h"

CRYPTHASH
{
    unsigned char whole[32];

    (void)digest_bits;
    toy_hash(msg, bits, whole);
    memcpy(digest, whole, 24);
    return 0;
}
