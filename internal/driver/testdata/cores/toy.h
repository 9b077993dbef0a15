/* SPDX-License-Identifier: MIT */

/*
 * A toy hash of 256 bits for tests: no security, but every message bit and the
 * length matter, and unused low bits do not. driver_test.go has the same in Go.
 */

#ifndef TOY_H
#define TOY_H

#include <stdint.h>
#include <stddef.h>

static void toy_hash(const unsigned char *msg, unsigned long long bits, unsigned char *digest)
{
    uint64_t s[4] = {1, 2, 3, 4};
    unsigned long long i, n = bits / 8;
    int k;

    for (i = 0; i < n; i++) {
        s[i % 4] = (s[i % 4] ^ msg[i]) * 0x100000001b3u + s[(i + 1) % 4];
    }
    if (bits % 8 != 0) {
        s[0] = (s[0] ^ (msg[n] & (0xff00 >> bits % 8 & 0xff))) * 0x100000001b3u;
    }
    s[1] ^= bits;
    for (k = 0; k < 16; k++) {
        s[k % 4] = (s[k % 4] ^ s[(k + 3) % 4] >> 29) * 0x9e3779b97f4a7c15u + (unsigned)k;
    }
    for (k = 0; k < 32; k++) {
        digest[k] = (unsigned char)(s[k / 8] >> 8 * (k % 8));
    }
}

#define CRYPTHASH \
    int CryptHash(int digest_bits, const unsigned char *msg, unsigned long long bits, \
                  unsigned char *digest)

#endif
