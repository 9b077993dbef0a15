/* SPDX-License-Identifier: MIT */

#define _GNU_SOURCE
#include "once.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core.h"
#include "crash.h"
#include "input.h"
#include "message.h"
#include "reply.h"

#define PAGE 4096

struct calls {
    struct core core;
    unsigned char *message, *digest;
    uint64_t bits, warmup, calls;
};

/* The same body under two names: a tool collects inside ngcc_counted only
 * (once.go names it). Not static, so that the name is there to find. */
void ngcc_warm(const struct calls *c);
void ngcc_counted(const struct calls *c);

static inline void make_calls(const struct calls *c, uint64_t n)
{
    uint64_t i;
    int b, returned = 0;

    for (i = 0; i < n; i++) {
        /* Not store64: what is called in ngcc_counted is the core and nothing else. */
        for (b = 0; b < 8; b++) {
            c->message[b] = (unsigned char)(i >> (8 * b));
        }
        returned |= core_call(&c->core, c->message, c->bits, c->digest);
    }
    if (returned != 0) {
        core_returned(returned);
    }
}

void ngcc_warm(const struct calls *c)
{
    make_calls(c, c->warmup);
}

void ngcc_counted(const struct calls *c)
{
    make_calls(c, c->calls);
}

/* Calls f with the stack pointer at one place within its page, wherever argument
 * and environment strings left it: a core's buffers, and with them the path that
 * memcpy takes, would move with the length of a file's name. */
static void call_aligned(void (*volatile f)(const struct calls *), const struct calls *c)
{
    volatile unsigned char pad[((uintptr_t)__builtin_frame_address(0) & (PAGE - 1)) + PAGE];

    pad[0] = 0; /* it is used: no compiler may leave it out */
    (void)pad[0];
    f(c);
}

static uint64_t number(const char *value, uint64_t least, uint64_t most)
{
    char *end;
    unsigned long long v;

    errno = 0;
    v = strtoull(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || v < least || v > most) {
        reply_fail_text(ST_DRIVER, "mode once: no number in the range of its option");
    }
    return v;
}

static unsigned char *allocate(uint64_t size)
{
    void *p = NULL;

    if (posix_memalign(&p, PAGE, (size_t)size + PAGE) != 0) {
        reply_fail_text(ST_DRIVER, "no memory for the message");
    }
    memset(p, 0xa5, (size_t)size + PAGE);
    return p;
}

static void print_digest(const struct calls *c)
{
    static const char hex[] = "0123456789abcdef";
    static const char head[] = "ngcc-once 1\ndigest ", end[] = "\nend\n";
    char text[2 * MAX_DIGEST_BYTES];
    size_t i;

    for (i = 0; i < c->core.digest_bytes; i++) {
        text[2 * i] = hex[c->digest[i] >> 4];
        text[2 * i + 1] = hex[c->digest[i] & 15];
    }
    reply_write(head, sizeof head - 1);
    reply_write(text, 2 * c->core.digest_bytes);
    reply_write(end, sizeof end - 1);
}

static void parse(struct calls *c, int argc, char **argv)
{
    const char *library = "", *api = "";
    int i, digest_bits = 0;

    for (i = 2; i + 1 < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        if (strcmp(name, "--core") == 0) {
            library = value;
        } else if (strcmp(name, "--api") == 0) {
            api = value;
        } else if (strcmp(name, "--digest-bits") == 0) {
            digest_bits = (int)number(value, 8, 8 * MAX_DIGEST_BYTES);
        } else if (strcmp(name, "--bytes") == 0) {
            c->bits = 8 * number(value, 8, 1 << 30);
        } else if (strcmp(name, "--warmup") == 0) {
            c->warmup = number(value, 0, 1 << 20);
        } else if (strcmp(name, "--calls") == 0) {
            c->calls = number(value, 1, 1 << 20);
        } else {
            reply_fail_text(ST_DRIVER, "mode once: unknown option");
        }
    }
    if (c->bits == 0 || c->calls == 0) {
        reply_fail_text(ST_DRIVER, "mode once needs --bytes and --calls");
    }
    core_load(&c->core, library, api, digest_bits);
}

void once(int argc, char **argv)
{
    struct calls c;

    memset(&c, 0, sizeof c);
    input_open();
    parse(&c, argc, argv);
    c.message = allocate(c.bits / 8);
    c.digest = allocate(c.core.digest_bytes);
    message_fill(c.message, c.bits, RULE_NUMBERED, 0);
    crash_phase(PHASE_HASH, c.bits);
    call_aligned(ngcc_warm, &c);
    memset(c.digest, 0xa5, c.core.digest_bytes);
    call_aligned(ngcc_counted, &c);
    crash_phase(PHASE_DRIVER, 0);
    print_digest(&c);
    _exit(0);
}
