/* SPDX-License-Identifier: MIT */

#define _GNU_SOURCE
#include "serve.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core.h"
#include "counter.h"
#include "crash.h"
#include "guard.h"
#include "input.h"
#include "message.h"
#include "reply.h"

/* Longer messages get a mapping of their own and are hashed once, not twice. */
#define TWICE_BYTES ((size_t)16 << 20)
#define MAX_MESSAGE_BYTES ((uint64_t)1 << 31)
#define MAX_LOOP_BYTES ((uint64_t)1 << 20)
#define PROGRESS_NS 100000000

enum op { OP_HASH = 1, OP_LOOP = 2 };

/*
 * A request: op (8 bits), rule (8 bits), 6 zero bytes, message bits, number
 * (RULE_NUMBERED: the message's; OP_LOOP: of iterations), bytes of data that
 * follow (64 bits each); little-endian. protocol.go writes it.
 */
struct request {
    unsigned op, rule;
    uint64_t bits, number, data;
    size_t bytes; /* of the message */
};

struct server {
    struct core core;
    struct region message; /* for messages of up to TWICE_BYTES */
    struct region digest;
};

static int read_request(const struct core *c, struct request *r)
{
    unsigned char h[32];

    if (!input_read(h, sizeof h)) {
        return 0;
    }
    r->op = h[0];
    r->rule = h[1];
    r->bits = load64(h + 8);
    r->number = load64(h + 16);
    r->data = load64(h + 24);
    if ((r->op != OP_HASH && r->op != OP_LOOP) || r->rule > RULE_NUMBERED ||
        r->bits > 8 * MAX_MESSAGE_BYTES) {
        reply_fail_text(ST_DRIVER, "the request cannot be understood");
    }
    r->bytes = (size_t)((r->bits + 7) / 8);
    if (r->data != (r->rule == RULE_DATA ? r->bytes : 0)) {
        reply_fail_text(ST_DRIVER, "the request's data do not fit its length");
    }
    if (r->rule == RULE_NUMBERED && r->bytes < 8) {
        reply_fail_text(ST_DRIVER, "a numbered message has less than 8 bytes");
    }
    if (c->crypto_hash != NULL && r->bits % 8 != 0) {
        reply_fail_text(ST_DRIVER, "crypto_hash takes whole bytes only");
    }
    if (r->op == OP_LOOP && (r->rule != RULE_DATA || r->bits % 8 != 0 ||
                             r->bytes < c->digest_bytes || r->bytes > MAX_LOOP_BYTES)) {
        reply_fail_text(ST_DRIVER, "the loop's message is too short, too long or not whole bytes");
    }
    return 1;
}

/* What the digest holds before a call: different in every byte for the two placements. */
static unsigned char prefill(size_t i, enum placement placement)
{
    unsigned char v = (unsigned char)(0x5a + 41 * i);

    return placement == PLACE_END ? v : (unsigned char)~v;
}

static void check_outside(const struct region *digest)
{
    struct text t = {{0}, 0};
    long distance;

    if (region_intact(digest, &distance)) {
        return;
    }
    text_add(&t, "it wrote ");
    text_bytes(&t, (uint64_t)(distance < 0 ? -distance : distance));
    text_add(&t, distance < 0 ? " before the start of the digest" : " past the end of the digest");
    reply_fail(ST_OUTSIDE, &t);
}

/*
 * Calls the core once on the message that lies in its region, with the digest
 * placed likewise, and copies the digest out.
 */
static void call_guarded(struct server *s, const struct region *message, uint64_t bits,
                         enum placement placement, unsigned char *out)
{
    const unsigned char *msg = message->object;
    size_t i, size = s->core.digest_bytes;
    int returned;

    if (bits == 0 && placement == PLACE_START && s->core.crypthash != NULL) {
        msg = NULL; /* legal, says the cores' interface */
    }
    region_place(&s->digest, size, placement);
    region_seal(&s->digest);
    for (i = 0; i < size; i++) {
        s->digest.object[i] = prefill(i, placement);
    }
    crash_watch(message, &s->digest);
    crash_phase(PHASE_HASH, bits);
    returned = core_call(&s->core, msg, bits, s->digest.object);
    crash_phase(PHASE_DRIVER, 0);
    crash_watch(NULL, NULL);
    if (returned != 0) {
        core_returned(returned);
    }
    check_outside(&s->digest);
    memcpy(out, s->digest.object, size);
}

static void fail_unwritten(size_t first, size_t bytes)
{
    struct text t = {{0}, 0};

    text_bytes(&t, bytes);
    text_add(&t, " of it, from byte ");
    text_num(&t, first);
    text_add(&t, ", hold what was there before the call");
    reply_fail(ST_UNWRITTEN, &t);
}

/* Fails when no byte of the only digest of a message was written. */
static void check_single(const unsigned char *digest, size_t size)
{
    size_t i;

    for (i = 0; i < size; i++) {
        if (digest[i] != prefill(i, PLACE_END)) {
            return;
        }
    }
    fail_unwritten(0, size);
}

/* Fails when the digests of the two placements differ, and says how. */
static void check_pair(const unsigned char *end, const unsigned char *start, size_t size)
{
    size_t i, first = size, different = 0, unwritten = 0;
    struct text t = {{0}, 0};

    for (i = 0; i < size; i++) {
        if (end[i] != start[i]) {
            first = first < i ? first : i;
            different++;
            unwritten += end[i] == prefill(i, PLACE_END) && start[i] == prefill(i, PLACE_START);
        }
    }
    if (different == 0) {
        return;
    }
    if (unwritten == different) {
        fail_unwritten(first, unwritten);
    }
    text_bytes(&t, different);
    text_add(&t, " of the digest, from byte ");
    text_num(&t, first);
    text_add(&t, ", differ when message and digest lie elsewhere");
    reply_fail(ST_PLACEMENT, &t);
}

static void load_message(const struct region *message, const struct request *r)
{
    if (r->rule != RULE_DATA) {
        message_fill(message->object, r->bits, (enum rule)r->rule, r->number);
    } else if (r->bytes > 0 && !input_read(message->object, r->bytes)) {
        _exit(2);
    }
}

static void hash_long(struct server *s, const struct request *r)
{
    unsigned char digest[MAX_DIGEST_BYTES];
    struct region message;

    region_open(&message, "message", r->bytes);
    region_place(&message, r->bytes, PLACE_END);
    load_message(&message, r);
    region_writable(&message, 0);
    call_guarded(s, &message, r->bits, PLACE_END, digest);
    region_close(&message);
    check_single(digest, s->core.digest_bytes);
    reply_frame(ST_DIGEST, 0, digest, s->core.digest_bytes);
}

static void hash_twice(struct server *s, const struct request *r)
{
    unsigned char end[MAX_DIGEST_BYTES], start[MAX_DIGEST_BYTES];
    struct region *message = &s->message;
    const unsigned char *was;

    region_place(message, r->bytes, PLACE_END);
    load_message(message, r);
    region_writable(message, 0);
    call_guarded(s, message, r->bits, PLACE_END, end);
    region_writable(message, 1);

    was = message->object;
    region_place(message, r->bytes, PLACE_START);
    memmove(message->object, was, r->bytes);
    region_writable(message, 0);
    call_guarded(s, message, r->bits, PLACE_START, start);
    region_writable(message, 1);
    check_pair(end, start, s->core.digest_bytes);
    reply_frame(ST_DIGEST, 0, end, s->core.digest_bytes);
}

/* The core's digest of m, at an edge that alternates; m is compared afterwards. */
static void hash_step(struct server *s, const unsigned char *m, size_t bytes, uint64_t step,
                      unsigned char *digest)
{
    enum placement placement = step % 2 == 0 ? PLACE_END : PLACE_START;

    region_place(&s->message, bytes, placement);
    memcpy(s->message.object, m, bytes);
    call_guarded(s, &s->message, 8 * (uint64_t)bytes, placement, digest);
    if (memcmp(s->message.object, m, bytes) != 0) {
        reply_fail_text(ST_OUTSIDE, "it wrote to the message");
    }
}

/*
 * The official loop: h = Hash(m), then number times: rotate m left by the
 * length of h, XOR h into its beginning, h = Hash(m). Answers the last h.
 */
static void hash_loop(struct server *s, const struct request *r)
{
    unsigned char h[MAX_DIGEST_BYTES];
    size_t i, size = s->core.digest_bytes;
    unsigned char *m = malloc(r->bytes), *rotated = malloc(r->bytes), *swap;
    uint64_t step, told = clock_ns(), now;

    if (m == NULL || rotated == NULL) {
        reply_fail_text(ST_DRIVER, "no memory for the loop's message");
    }
    if (!input_read(m, r->bytes)) {
        _exit(2);
    }
    hash_step(s, m, r->bytes, 0, h);
    for (step = 1; step <= r->number; step++) {
        memcpy(rotated, m + size, r->bytes - size);
        memcpy(rotated + r->bytes - size, m, size);
        for (i = 0; i < size; i++) {
            rotated[i] ^= h[i];
        }
        swap = m;
        m = rotated;
        rotated = swap;
        hash_step(s, m, r->bytes, step, h);
        if (step % 16 == 0 && (now = clock_ns()) - told >= PROGRESS_NS) {
            told = now;
            reply_frame(ST_PROGRESS, step, NULL, 0);
        }
    }
    free(m);
    free(rotated);
    reply_frame(ST_DIGEST, 0, h, size);
}

void serve(const char *library, const char *api, int digest_bits)
{
    struct server s;
    struct request r;

    region_open(&s.message, "message", TWICE_BYTES);
    region_open(&s.digest, "digest", MAX_DIGEST_BYTES);
    core_load(&s.core, library, api, digest_bits);
    reply_frame(ST_READY, 0, NULL, 0);
    while (read_request(&s.core, &r)) {
        if (r.op == OP_LOOP) {
            hash_loop(&s, &r);
        } else if (r.bytes > TWICE_BYTES) {
            hash_long(&s, &r);
        } else {
            hash_twice(&s, &r);
        }
    }
    _exit(0);
}
