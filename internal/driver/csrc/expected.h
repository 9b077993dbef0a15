/* SPDX-License-Identifier: MIT */

/* The digests that a timed core must give. */

#ifndef NGCC_EXPECTED_H
#define NGCC_EXPECTED_H

#include <stddef.h>
#include <stdint.h>

struct expected {
    unsigned char *digests; /* count of them, one after the other */
    uint64_t count;
    size_t bytes;      /* of one */
    uint64_t previous; /* number of the message before this one */
};

/* Reads all digests from standard input, hex lines; fails with ST_DRIVER. */
void expected_read(const struct expected *e);

/*
 * The digest must be that of message k: fails with ST_REMEMBERS when it is that
 * of the message before, else with ST_WRONG. Overwrites a right one.
 */
void expected_check(struct expected *e, uint64_t k, unsigned char *digest);

#endif
