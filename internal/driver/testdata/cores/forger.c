/* SPDX-License-Identifier: MIT */

/* Writes nonsense where the driver answers. */

#include <unistd.h>

#include "toy.h"

CRYPTHASH
{
    (void)digest_bits;
    toy_hash(msg, bits, digest);
    return write(3, "a wonderfully quick hash\n", 25) != 25;
}
