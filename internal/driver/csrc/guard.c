/* SPDX-License-Identifier: MIT */

#define _GNU_SOURCE
#include "guard.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "reply.h"

/* Unmapped bytes on either side: an overrun by less is named, not only seen. */
#define GUARD_BYTES 65536

void region_open(struct region *r, const char *name, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *whole;

    memset(r, 0, sizeof *r);
    r->name = name;
    r->guard = GUARD_BYTES;
    r->size = (size + page - 1) / page * page;
    if (r->size == 0) {
        r->size = page;
    }
    whole = mmap(NULL, r->size + 2 * r->guard, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (whole == MAP_FAILED ||
        mprotect(whole + r->guard, r->size, PROT_READ | PROT_WRITE) != 0) {
        struct text t = {{0}, 0};
        text_add(&t, "no memory for a ");
        text_add(&t, name);
        text_add(&t, " of ");
        text_bytes(&t, size);
        reply_fail(ST_DRIVER, &t);
    }
    r->arena = whole + r->guard;
    region_place(r, 0, PLACE_END);
}

void region_close(struct region *r)
{
    munmap(r->arena - r->guard, r->size + 2 * r->guard);
    free(r->seal);
    memset(r, 0, sizeof *r);
}

void region_place(struct region *r, size_t bytes, enum placement placement)
{
    r->object_size = bytes;
    r->object = placement == PLACE_END ? r->arena + r->size - bytes : r->arena;
}

void region_writable(struct region *r, int writable)
{
    if (mprotect(r->arena, r->size, writable ? PROT_READ | PROT_WRITE : PROT_READ) != 0) {
        reply_fail_text(ST_DRIVER, "the message's mapping cannot be protected");
    }
}

void region_seal(struct region *r)
{
    size_t i;

    if (r->seal == NULL) {
        r->seal = malloc(r->size);
        if (r->seal == NULL) {
            reply_fail_text(ST_DRIVER, "no memory for a pattern");
        }
        for (i = 0; i < r->size; i++) {
            r->seal[i] = (unsigned char)(0xa5 ^ i * 29 ^ i >> 8);
        }
    }
    memcpy(r->arena, r->seal, r->size);
}

int region_intact(const struct region *r, long *distance)
{
    size_t first = (size_t)(r->object - r->arena), after = first + r->object_size, i;

    if (memcmp(r->arena, r->seal, first) == 0 &&
        memcmp(r->arena + after, r->seal + after, r->size - after) == 0) {
        return 1;
    }
    for (i = 0; i < first; i++) {
        if (r->arena[i] != r->seal[i]) {
            *distance = (long)i - (long)first;
            return 0;
        }
    }
    for (i = r->size; r->arena[i - 1] == r->seal[i - 1]; i--) {
    }
    *distance = (long)(i - after);
    return 0;
}
