/* SPDX-License-Identifier: MIT */

/* Exports the function by another name. */

#include "toy.h"

int Hash(int digest_bits, const unsigned char *msg, unsigned long long bits, unsigned char *digest)
{
    (void)digest_bits;
    toy_hash(msg, bits, digest);
    return 0;
}
