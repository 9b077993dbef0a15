/* SPDX-License-Identifier: MIT */

/* Buffers between unmapped pages. */

#ifndef NGCC_GUARD_H
#define NGCC_GUARD_H

#include <stddef.h>

enum placement {
    PLACE_END,  /* the object ends where the unmapped pages begin */
    PLACE_START /* the object begins where the unmapped pages end */
};

struct region {
    const char *name;      /* "message" or "digest", for the reply */
    unsigned char *arena;  /* whole pages */
    size_t size;           /* bytes of arena */
    size_t guard;          /* unmapped bytes on either side */
    unsigned char *object; /* what the core is given, inside arena */
    size_t object_size;
    unsigned char *seal;   /* what region_seal put into the arena, or NULL */
};

/* Maps an arena of at least size bytes; fails with ST_DRIVER. */
void region_open(struct region *r, const char *name, size_t size);
void region_close(struct region *r);

/* Puts an object of that many bytes, at most size, at an edge of the arena. */
void region_place(struct region *r, size_t bytes, enum placement placement);

/* Lets the arena be written, or only read. */
void region_writable(struct region *r, int writable);

/*
 * Fills the arena with a pattern; region_intact returns 1 when it is still
 * there around the object, else 0 and how many bytes lie between the farthest
 * damaged byte and the object: negative before its start, positive past its
 * end.
 */
void region_seal(struct region *r);
int region_intact(const struct region *r, long *distance);

#endif
