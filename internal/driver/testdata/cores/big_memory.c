/* SPDX-License-Identifier: MIT */

/* Takes 32 MiB on its first call. */

#include <stdlib.h>
#include <string.h>

#include "toy.h"

CRYPTHASH
{
    static unsigned char *memory;

    (void)digest_bits;
    if (memory == NULL) {
        memory = malloc(32 << 20);
        if (memory == NULL) {
            return 1;
        }
        memset(memory, 1, 32 << 20);
    }
    toy_hash(msg, bits, digest);
    return memory[bits / 8] - 1;
}
