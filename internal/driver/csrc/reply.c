/* SPDX-License-Identifier: MIT */

#define _GNU_SOURCE
#include "reply.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int as_text;
static char current_side;
static void (*on_failure)(void);

void text_add(struct text *t, const char *s)
{
    while (*s != '\0' && t->n + 1 < sizeof t->s) {
        t->s[t->n++] = *s++;
    }
    t->s[t->n] = '\0';
}

static void add_digits(struct text *t, uint64_t v, unsigned base)
{
    char digits[24];
    size_t i = sizeof digits;

    digits[--i] = '\0';
    do {
        digits[--i] = "0123456789abcdef"[v % base];
        v /= base;
    } while (v != 0);
    text_add(t, digits + i);
}

void text_num(struct text *t, uint64_t v)
{
    add_digits(t, v, 10);
}

void text_int(struct text *t, long long v)
{
    if (v < 0) {
        text_add(t, "-");
        add_digits(t, 0 - (uint64_t)v, 10);
    } else {
        add_digits(t, (uint64_t)v, 10);
    }
}

void text_hex(struct text *t, uint64_t v)
{
    text_add(t, "0x");
    add_digits(t, v, 16);
}

void text_bytes(struct text *t, uint64_t v)
{
    text_num(t, v);
    text_add(t, v == 1 ? " byte" : " bytes");
}

void reply_as_text(void)
{
    as_text = 1;
}

void reply_side(char side)
{
    current_side = side;
}

void reply_on_failure(void (*prepare)(void))
{
    on_failure = prepare;
}

void reply_write(const void *data, size_t n)
{
    const char *p = data;

    while (n > 0) {
        ssize_t k = write(REPLY_FD, p, n);
        if (k < 0) {
            if (errno == EINTR) {
                continue;
            }
            _exit(2);
        }
        p += k;
        n -= (size_t)k;
    }
}

void reply_frame(enum status status, uint64_t value, const void *payload, size_t n)
{
    unsigned char frame[16 + 1024] = {0};
    size_t fits = n < 1024 ? n : 1024;

    frame[0] = (unsigned char)status;
    frame[4] = (unsigned char)fits;
    frame[5] = (unsigned char)(fits >> 8);
    store64(frame + 8, value);
    if (fits > 0) {
        memcpy(frame + 16, payload, fits);
    }
    reply_write(frame, 16 + fits);
}

void reply_fail(enum status status, const struct text *t)
{
    if (on_failure != NULL) {
        on_failure();
    }
    if (as_text) {
        struct text line = {{0}, 0};
        size_t i;

        text_add(&line, "error ");
        if (current_side != 0) {
            const char side[3] = {current_side, ' ', '\0'};
            text_add(&line, side);
        }
        text_num(&line, (uint64_t)status);
        text_add(&line, " ");
        text_add(&line, t->s);
        /* One line, whatever the text came from; the end may have been cut off. */
        for (i = 0; i < line.n; i++) {
            if (line.s[i] == '\n') {
                line.s[i] = ' ';
            }
        }
        if (line.n == sizeof line.s - 1) {
            line.n--;
        }
        line.s[line.n++] = '\n';
        reply_write(line.s, line.n);
    } else {
        reply_frame(status, 0, t->s, t->n);
    }
    _exit(1);
}

void reply_fail_text(enum status status, const char *text)
{
    struct text t = {{0}, 0};

    text_add(&t, text);
    reply_fail(status, &t);
}

void store64(unsigned char *p, uint64_t v)
{
    int i;

    for (i = 0; i < 8; i++) {
        p[i] = (unsigned char)(v >> (8 * i));
    }
}

uint64_t load64(const unsigned char *p)
{
    uint64_t v = 0;
    int i;

    for (i = 7; i >= 0; i--) {
        v = v << 8 | p[i];
    }
    return v;
}
