/* SPDX-License-Identifier: MIT */

/* A core: a shared library that exports a hash function. */

#ifndef NGCC_CORE_H
#define NGCC_CORE_H

#include <stddef.h>
#include <stdint.h>

#define MAX_DIGEST_BYTES 512

/* int CryptHash(int digest_bits, msg, msg_bits, digest) */
typedef int crypthash_fn(int, const unsigned char *, unsigned long long, unsigned char *);
/* int crypto_hash(digest, msg, msg_bytes) */
typedef int crypto_hash_fn(unsigned char *, const unsigned char *, unsigned long long);

struct core {
    crypthash_fn *crypthash;     /* one of these two is set */
    crypto_hash_fn *crypto_hash;
    int digest_bits;
    size_t digest_bytes;
};

/*
 * Loads a library and finds the function of its api, "crypthash" or
 * "crypto_hash"; fails with ST_LOAD. Runs the library's constructors.
 */
void core_load(struct core *c, const char *library, const char *api, int digest_bits);

/* Hashes msg_bits bits (a multiple of 8 for crypto_hash); the core's own return value. */
static inline int core_call(const struct core *c, const unsigned char *msg, uint64_t msg_bits,
                            unsigned char *digest)
{
    if (c->crypthash != NULL) {
        return c->crypthash(c->digest_bits, msg, msg_bits, digest);
    }
    return c->crypto_hash(digest, msg, msg_bits / 8);
}

/* Fails with ST_RETURNED, naming the value. */
void core_returned(int value) __attribute__((noreturn));

#endif
