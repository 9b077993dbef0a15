/* SPDX-License-Identifier: MIT */

#include "message.h"

#include <string.h>

#include "reply.h"

void message_fill(unsigned char *m, uint64_t msg_bits, enum rule rule, uint64_t number)
{
    size_t i, n = (size_t)((msg_bits + 7) / 8);
    unsigned char unused = (unsigned char)(msg_bits % 8 != 0 ? 0xff >> msg_bits % 8 : 0);

    switch (rule) {
    case RULE_DATA:
        return;
    case RULE_ZERO:
        memset(m, 0x00, n);
        break;
    case RULE_ONES:
        memset(m, 0xff, n);
        break;
    case RULE_PERF:
    case RULE_PERF_DIRTY:
    case RULE_NUMBERED:
        for (i = 0; i < n; i++) {
            m[i] = (unsigned char)(131 * i + n);
        }
        break;
    }
    if (rule == RULE_NUMBERED) {
        store64(m, number);
    }
    if (unused != 0) {
        if (rule == RULE_PERF_DIRTY) {
            m[n - 1] |= unused;
        } else {
            m[n - 1] &= (unsigned char)~unused;
        }
    }
}
