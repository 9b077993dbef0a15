/* SPDX-License-Identifier: MIT */

/* Does what it should. */

#include "toy.h"

CRYPTHASH
{
    if (digest_bits != 256) {
        return 1;
    }
    toy_hash(msg, bits, digest);
    return 0;
}
