/* SPDX-License-Identifier: MIT */

/* Hashes something else when the message is long. */

#include "toy.h"

CRYPTHASH
{
    (void)digest_bits;
    toy_hash(msg, bits, digest);
    digest[31] ^= bits >= 256;
    return 0;
}
