/* SPDX-License-Identifier: MIT */

/* The rules by which messages are made; message.go has the same. */

#ifndef NGCC_MESSAGE_H
#define NGCC_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

enum rule {
    RULE_DATA = 0,       /* the bytes follow the request */
    RULE_ZERO = 1,       /* all bits 0 */
    RULE_ONES = 2,       /* all bits 1 */
    RULE_PERF = 3,       /* byte i of n: (131 i + n) mod 256 */
    RULE_PERF_DIRTY = 4, /* the same, unused low bits of the last byte set */
    RULE_NUMBERED = 5    /* perf, the first 8 bytes a little-endian number */
};

/*
 * Writes the (msg_bits + 7) / 8 bytes of a message made by a rule other than
 * RULE_DATA. Unused low bits of a partial last byte are 0 but for
 * RULE_PERF_DIRTY. RULE_NUMBERED needs 8 bytes at least.
 */
void message_fill(unsigned char *m, uint64_t msg_bits, enum rule rule, uint64_t number);

#endif
