/* SPDX-License-Identifier: MIT */

#include "expected.h"

#include <string.h>

#include "input.h"
#include "reply.h"

static int hex_digit(unsigned char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void expected_read(const struct expected *e)
{
    uint64_t i, n = e->count * e->bytes;
    unsigned char pair[2], end;

    for (i = 0; i < n; i++) {
        if (!input_read(pair, 2) || hex_digit(pair[0]) < 0 || hex_digit(pair[1]) < 0) {
            reply_fail_text(ST_DRIVER, "an expected digest is not hex of the digest's length");
        }
        e->digests[i] = (unsigned char)(hex_digit(pair[0]) * 16 + hex_digit(pair[1]));
        if (i % e->bytes == e->bytes - 1 && (!input_read(&end, 1) || end != '\n')) {
            reply_fail_text(ST_DRIVER, "an expected digest is longer than the core's");
        }
    }
}

void expected_check(struct expected *e, uint64_t k, unsigned char *digest)
{
    uint64_t before = e->previous;
    struct text why = {{0}, 0};

    e->previous = k;
    if (memcmp(digest, e->digests + k * e->bytes, e->bytes) == 0) {
        memset(digest, 0xa5, e->bytes);
        return;
    }
    if (before != k && memcmp(digest, e->digests + before * e->bytes, e->bytes) == 0) {
        reply_fail_text(ST_REMEMBERS, "it gave the digest of the message before");
    }
    text_add(&why, "of the timed message ");
    text_num(&why, k);
    reply_fail(ST_WRONG, &why);
}
