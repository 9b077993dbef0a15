/* SPDX-License-Identifier: MIT */

/*
 * FEILIAN (NGCC hash candidate 10), portable C99. One file serves the three
 * instances; -DFEILIAN_DIGEST_BITS=512, 768 or 1024 picks one.
 *
 * How the code maps onto the specification:
 *
 *   blocks        CryptHash() walks the message; last_block() fills the last
 *   compression   compress(), five times "four rounds", since the message
 *                 enters only in rounds 0, 4, 8, 12 and 16
 *   step SC       SC(), on one column
 *   step SR       nothing moves: SC_AFTER_n_SR() takes each column from where
 *                 n row rotations would have fetched it; four are the identity,
 *                 so two rounds bring every word home
 *   step 5        CONSTANT_AND_TWEAK(): constants into row 1 and tweak into
 *                 row 3, as the known answers have it
 *
 * Word r*4 + c of the state is row r, column c. No look-up is indexed by
 * message data and only the message length decides a branch.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef FEILIAN_DIGEST_BITS
#error "define FEILIAN_DIGEST_BITS as 512, 768 or 1024"
#elif FEILIAN_DIGEST_BITS != 512 && FEILIAN_DIGEST_BITS != 768 && FEILIAN_DIGEST_BITS != 1024
#error "FEILIAN_DIGEST_BITS must be 512, 768 or 1024"
#endif

#define BLOCK_BITS 1024
#define BLOCK_BYTES (BLOCK_BITS / 8)
#define STATE_WORDS 16
#define DIGEST_WORDS (FEILIAN_DIGEST_BITS / 64)

/* The first sixteen 64-bit words of the fraction of pi, for every instance. */
static const uint64_t IV[STATE_WORDS] = {
    0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89,
    0x452821e638d01377, 0xbe5466cf34e90c6c, 0xc0ac29b7c97c50dd, 0x3f84d5b5b5470917,
    0x9216d5d98979fb1b, 0xd1310ba698dfb5ac, 0x2ffd72dbd01adfb7, 0xb8e1afed6a267e96,
    0xba7c9045f12c7f99, 0x24a19947b3916cf7, 0x0801f2e2858efc16, 0x636920d871574e69,
};

/*
 * C[0..3]: the first 64 bits of the fractions of the square roots of 2, 3, 5
 * and 7, then the first three again, so that C[(q + c) mod 4] is C_TWICE[q + c]
 * for q = 0..4 once q = 4 is read as q = 0.
 */
static const uint64_t C_TWICE[7] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
};

#define ROTR(x, n) ((x) >> (n) | (x) << (64 - (n)))

/* SC on one column: words a, b, c, d of rows 0, 1, 2, 3. */
#define SC(a, b, c, d)                              \
    do {                                            \
        (a) += (b);                                 \
        (c) += (d);                                 \
        (d) = ROTR((d) ^ (a), 8);                   \
        (c) += (d) ^ ROTR((d), 5) ^ ROTR((d), 48);  \
        (b) = ROTR((b) ^ (c), 63);                  \
        (a) += (b) ^ ROTR((b), 11) ^ ROTR((b), 40); \
    } while (0)

/*
 * SC on the four columns as they stand after n SR. By then row r has been rotated
 * left by n*r, so column c of row r is word 4*r + ((c + n*r) mod 4).
 */
#define SC_AFTER_0_SR()       \
    do {                      \
        SC(v0, v4, v8, v12);  \
        SC(v1, v5, v9, v13);  \
        SC(v2, v6, v10, v14); \
        SC(v3, v7, v11, v15); \
    } while (0)

#define SC_AFTER_1_SR()       \
    do {                      \
        SC(v0, v5, v10, v15); \
        SC(v1, v6, v11, v12); \
        SC(v2, v7, v8, v13);  \
        SC(v3, v4, v9, v14);  \
    } while (0)

#define SC_AFTER_2_SR()       \
    do {                      \
        SC(v0, v6, v8, v14);  \
        SC(v1, v7, v9, v15);  \
        SC(v2, v4, v10, v12); \
        SC(v3, v5, v11, v13); \
    } while (0)

#define SC_AFTER_3_SR()       \
    do {                      \
        SC(v0, v7, v10, v13); \
        SC(v1, v4, v11, v14); \
        SC(v2, v5, v8, v15);  \
        SC(v3, v6, v9, v12);  \
    } while (0)

/* Message words first to first + 7, into rows 0 and 2 as they stand by then. */
#define MESSAGE(first, a0, a1, a2, a3, c0, c1, c2, c3) \
    do {                                               \
        (a0) ^= load_le64(block + 8 * (first));        \
        (a1) ^= load_le64(block + 8 * (first) + 8);    \
        (a2) ^= load_le64(block + 8 * (first) + 16);   \
        (a3) ^= load_le64(block + 8 * (first) + 24);   \
        (c0) ^= load_le64(block + 8 * (first) + 32);   \
        (c1) ^= load_le64(block + 8 * (first) + 40);   \
        (c2) ^= load_le64(block + 8 * (first) + 48);   \
        (c3) ^= load_le64(block + 8 * (first) + 56);   \
    } while (0)

/* Step 5 on rows 1 and 3 as they stand by then; thi is left out, see compress(). */
#define CONSTANT_AND_TWEAK(b0, b1, b2, b3, d0, d1, d3) \
    do {                                               \
        (b0) ^= c[0];                                  \
        (b1) ^= c[1];                                  \
        (b2) ^= c[2];                                  \
        (b3) ^= c[3];                                  \
        (d0) ^= FEILIAN_DIGEST_BITS;                   \
        (d1) ^= flag;                                  \
        (d3) ^= bits_so_far;                           \
    } while (0)

int CryptHash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits,
              unsigned char *digest);

static uint64_t load_le64(const unsigned char *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
           (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 |
           (uint64_t)p[7] << 56;
}

static void store_le64(unsigned char *p, uint64_t x)
{
    int i;

    for (i = 0; i < 8; i++) {
        p[i] = (unsigned char)(x >> (8 * i));
    }
}

/*
 * h' = h XOR v after twenty rounds on v = h. The block may lie at any address.
 * flag is all ones for the last block, else 0. bits_so_far counts message bits,
 * this block's included: it is tlo, and thi, the upper half of that 128-bit
 * count, is always 0 because the length comes to CryptHash() in 64 bits.
 */
static void compress(uint64_t h[STATE_WORDS], const unsigned char *block, uint64_t flag,
                     uint64_t bits_so_far)
{
    uint64_t v0 = h[0], v1 = h[1], v2 = h[2], v3 = h[3];
    uint64_t v4 = h[4], v5 = h[5], v6 = h[6], v7 = h[7];
    uint64_t v8 = h[8], v9 = h[9], v10 = h[10], v11 = h[11];
    uint64_t v12 = h[12], v13 = h[13], v14 = h[14], v15 = h[15];
    unsigned q;

    for (q = 0; q < 5; q++) { /* rounds 4q to 4q + 3 */
        const uint64_t *c = C_TWICE + q % 4;

        MESSAGE(0, v0, v1, v2, v3, v8, v9, v10, v11);
        SC_AFTER_0_SR();
        MESSAGE(8, v0, v1, v2, v3, v10, v11, v8, v9);
        SC_AFTER_1_SR();
        CONSTANT_AND_TWEAK(v6, v7, v4, v5, v14, v15, v13);

        SC_AFTER_2_SR();
        SC_AFTER_3_SR();
        CONSTANT_AND_TWEAK(v4, v5, v6, v7, v12, v13, v15);

        SC_AFTER_0_SR();
        SC_AFTER_1_SR();
        CONSTANT_AND_TWEAK(v6, v7, v4, v5, v14, v15, v13);

        SC_AFTER_2_SR();
        SC_AFTER_3_SR();
        CONSTANT_AND_TWEAK(v4, v5, v6, v7, v12, v13, v15);
    }

    h[0] ^= v0;
    h[1] ^= v1;
    h[2] ^= v2;
    h[3] ^= v3;
    h[4] ^= v4;
    h[5] ^= v5;
    h[6] ^= v6;
    h[7] ^= v7;
    h[8] ^= v8;
    h[9] ^= v9;
    h[10] ^= v10;
    h[11] ^= v11;
    h[12] ^= v12;
    h[13] ^= v13;
    h[14] ^= v14;
    h[15] ^= v15;
}

/*
 * Fill block with the last `bits` bits of a message (0 to 1023) and zero bits;
 * the unused low bits of a partial last byte are cleared. Reads no byte beyond.
 */
static void last_block(unsigned char block[BLOCK_BYTES], const unsigned char *tail, unsigned bits)
{
    size_t bytes = (bits + 7) / 8;

    memset(block, 0, BLOCK_BYTES);
    if (bytes > 0) {
        memcpy(block, tail, bytes);
    }
    if (bits % 8 != 0) {
        block[bytes - 1] &= (unsigned char)(0xff00 >> bits % 8);
    }
}

/*
 * Hash msg_len_bits bits, bit 0 being the most significant of msg[0], to
 * FEILIAN_DIGEST_BITS / 8 bytes at digest. msg may be NULL if the length is 0.
 * Returns 0, or 1 with digest untouched if an argument is wrong.
 */
int CryptHash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits,
              unsigned char *digest)
{
    const uint64_t last = UINT64_MAX;
    uint64_t h[STATE_WORDS];
    uint64_t done = 0;
    unsigned i;

    if (digest_len_bits != FEILIAN_DIGEST_BITS || digest == NULL ||
        (msg == NULL && msg_len_bits != 0)) {
        return 1;
    }
    memcpy(h, IV, sizeof h);

    while (msg_len_bits - done > BLOCK_BITS) {
        done += BLOCK_BITS;
        compress(h, msg, 0, done);
        msg += BLOCK_BYTES;
    }
    if (msg_len_bits - done == BLOCK_BITS) {
        compress(h, msg, last, msg_len_bits);
    } else {
        unsigned char block[BLOCK_BYTES];

        last_block(block, msg, (unsigned)(msg_len_bits - done));
        compress(h, block, last, msg_len_bits);
    }

    for (i = 0; i < DIGEST_WORDS; i++) {
        store_le64(digest + 8 * i, h[i]);
    }
    return 0;
}
