/* SPDX-License-Identifier: MIT */

/*
 * What the driver tells the Go side, over file descriptor 3. Everything here
 * may be used in a signal handler.
 */

#ifndef NGCC_REPLY_H
#define NGCC_REPLY_H

#include <stddef.h>
#include <stdint.h>

#define REPLY_FD 3

/* The same numbers stand in protocol.go. */
enum status {
    ST_READY = 0,    /* the core is loaded */
    ST_DIGEST = 1,   /* payload: the digest */
    ST_PROGRESS = 2, /* value: iterations done */
    ST_DRIVER = 16,  /* from here on: failures, payload: text */
    ST_RETURNED = 17,
    ST_CRASHED = 18,
    ST_OUTSIDE = 19,
    ST_PLACEMENT = 20,
    ST_UNWRITTEN = 21,
    ST_REMEMBERS = 22,
    ST_WRONG = 23,
    ST_LOAD = 24,
    ST_COUNTER = 25,
    ST_CONVENTION = 26,
    ST_EXITED = 27 /* mode pair only */
};

/* A text built without the C library; what does not fit is cut off. */
struct text {
    char s[1000];
    size_t n;
};

void text_add(struct text *t, const char *s);
void text_num(struct text *t, uint64_t v);
void text_int(struct text *t, long long v);
void text_hex(struct text *t, uint64_t v);
/* "1 byte", "2 bytes" */
void text_bytes(struct text *t, uint64_t v);

/* Failures as lines of text, not as frames (mode serve). */
void reply_as_text(void);

/* From now on failures are those of that side of a pair, 'A' or 'B'; 0: of none. */
void reply_side(char side);

/* Called before a failure is reported; the caller of reply_fail may be a signal handler. */
void reply_on_failure(void (*prepare)(void));

/* Writes all of it, or ends the process when nobody reads. */
void reply_write(const void *data, size_t n);

/*
 * A frame of mode serve: status, three zero bytes, payload length (32 bits),
 * value (64 bits), payload; little-endian.
 */
void reply_frame(enum status status, uint64_t value, const void *payload, size_t n);

/* Reports a failure and ends the process. */
void reply_fail(enum status status, const struct text *t) __attribute__((noreturn));
void reply_fail_text(enum status status, const char *text) __attribute__((noreturn));

/* v in little-endian order. */
void store64(unsigned char *p, uint64_t v);
uint64_t load64(const unsigned char *p);

#endif
