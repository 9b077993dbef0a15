/* SPDX-License-Identifier: MIT */

/*
 * QILIN (NGCC hash candidate 23), portable C99. One file serves the three
 * instances; -DQILIN_DIGEST_BITS=512, 768 or 1024 picks one.
 *
 * How the code maps onto the specification:
 *
 *   padding, absorb, digest    CryptHash(); pad_block() fills the last block
 *   Qilin-f                    qilin_f(), a pass of its loop for each round t
 *   steps 1 and 2              LINEAR_AND_ROTATE_ROWS(j), on column j
 *   steps 3 and 4              Q_AND_ROTATE_COLUMNS(i), on row i
 *   step 5                     the last line of the loop
 *
 * Word 7*j + i of the state is x[i][j], row i and column j. Steps 2 and 4 move
 * nothing: the step before them stores each word where it has to go, at an index
 * that is a constant. No index and no branch depends on message data.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef QILIN_DIGEST_BITS
#error "define QILIN_DIGEST_BITS as 512, 768 or 1024"
#elif QILIN_DIGEST_BITS == 512
#define ROUNDS 12
#elif QILIN_DIGEST_BITS == 768
#define ROUNDS 14
#elif QILIN_DIGEST_BITS == 1024
#define ROUNDS 16
#else
#error "QILIN_DIGEST_BITS must be 512, 768 or 1024"
#endif

#define STATE_WORDS 49
#define STATE_BITS (64 * STATE_WORDS)
#define DIGEST_WORDS (QILIN_DIGEST_BITS / 64)

/* The capacity is twice the digest: rates 2112, 1600 and 1088. */
#define RATE_BITS (STATE_BITS - 2 * QILIN_DIGEST_BITS)
#define RATE_BYTES (RATE_BITS / 8)
#define RATE_WORDS (RATE_BITS / 64)

/*
 * Round constants, the published values. They obey this rule, which recomputes
 * them: RC[t] has bit p_l set where s_l = 1, with (p_0..p_14) = (0, 1, 2, 4, 6,
 * 7, 8, 9, 10, 11, 12, 13, 14, 17, 24); s is all ones for t = 0, and the next s
 * is (s0 ^ s1 ^ s13 ^ s14, s0, s1, ..., s13).
 */
static const uint64_t RC[16] = {
    0x1027fd7, 0x1027fd6, 0x1027fd5, 0x1027fd3, 0x1027fc6, 0x1027f95, 0x1027f53, 0x1027ec6,
    0x1027d95, 0x1027b53, 0x10276c6, 0x1026d95, 0x1025b53, 0x10236c6, 0x1006d95, 0x0025b52,
};

/* n is 1 to 63: where the specification has a rotation by 0, none is written. */
#define ROTL(x, n) ((x) << (n) | (x) >> (64 - (n)))

/*
 * Steps 1 and 2: L on column j of x, then row i rotated right by i, so that y28
 * to y34, the new rows 0 to 6 of the column, go to columns j to j + 6 mod 7 of a.
 */
#define LINEAR_AND_ROTATE_ROWS(j)                  \
    do {                                           \
        const uint64_t y0 = x[7 * (j) + 0];        \
        const uint64_t y1 = x[7 * (j) + 1];        \
        const uint64_t y2 = x[7 * (j) + 2];        \
        const uint64_t y3 = x[7 * (j) + 3];        \
        const uint64_t y4 = x[7 * (j) + 4];        \
        const uint64_t y5 = x[7 * (j) + 5];        \
        const uint64_t y6 = x[7 * (j) + 6];        \
        const uint64_t y7 = y5 ^ y2;               \
        const uint64_t y8 = y2 ^ y4;               \
        const uint64_t y9 = y4 ^ y1;               \
        const uint64_t y10 = y1 ^ y6;              \
        const uint64_t y11 = y6 ^ y3;              \
        const uint64_t y12 = y3 ^ y0;              \
        const uint64_t y13 = y0 ^ ROTL(y7, 1);     \
        const uint64_t y14 = y7 ^ ROTL(y5, 39);    \
        const uint64_t y15 = y10 ^ ROTL(y12, 23);  \
        const uint64_t y16 = y11 ^ ROTL(y9, 18);   \
        const uint64_t y17 = y14 ^ ROTL(y13, 46);  \
        const uint64_t y18 = y8 ^ ROTL(y15, 54);   \
        const uint64_t y19 = y16 ^ ROTL(y17, 5);   \
        const uint64_t y20 = y12 ^ ROTL(y18, 15);  \
        const uint64_t y21 = y9 ^ ROTL(y19, 26);   \
        const uint64_t y22 = y13 ^ ROTL(y20, 33);  \
        const uint64_t y23 = y11 ^ ROTL(y21, 46);  \
        const uint64_t y24 = y8 ^ ROTL(y22, 44);   \
        const uint64_t y25 = y18 ^ ROTL(y23, 9);   \
        const uint64_t y26 = y19 ^ ROTL(y24, 30);  \
        const uint64_t y27 = y20 ^ y24;            \
        a[0][((j) + 0) % 7] = y24 ^ y22;           \
        a[1][((j) + 1) % 7] = y22 ^ y25;           \
        a[2][((j) + 2) % 7] = y25 ^ y23;           \
        a[3][((j) + 3) % 7] = y23 ^ y21;           \
        a[4][((j) + 4) % 7] = y21 ^ y26;           \
        a[5][((j) + 5) % 7] = y26 ^ ROTL(y27, 1);  \
        a[6][((j) + 6) % 7] = y27 ^ ROTL(y20, 39); \
    } while (0)

/*
 * Steps 3 and 4: Q on row i of a, then column j rotated down by j, so that b0 to
 * b6, the new columns 0 to 6 of the row, go to rows i to i + 6 mod 7 of x.
 */
#define Q_AND_ROTATE_COLUMNS(i)                                  \
    do {                                                         \
        const uint64_t a0 = a[i][0], a1 = a[i][1], a2 = a[i][2]; \
        const uint64_t a3 = a[i][3], a4 = a[i][4], a5 = a[i][5]; \
        const uint64_t a6 = a[i][6];                             \
        const uint64_t t0 = (a1 & a2) ^ a0;                      \
        const uint64_t t1 = (a2 | a3) ^ a1;                      \
        const uint64_t t2 = (a3 & a4) ^ a2;                      \
        const uint64_t t3 = (a4 | a5) ^ a3;                      \
        const uint64_t t4 = (a5 & a6) ^ a4;                      \
        const uint64_t t5 = (~a6 & a0) ^ a5;                     \
        const uint64_t t6 = (a0 | a1) ^ a6;                      \
        x[7 * 0 + ((i) + 0) % 7] = (t0 & t5) ^ t2;               \
        x[7 * 1 + ((i) + 1) % 7] = (t5 | t3) ^ t0;               \
        x[7 * 2 + ((i) + 2) % 7] = (t3 & t1) ^ t5;               \
        x[7 * 3 + ((i) + 3) % 7] = (t1 | t6) ^ t3;               \
        x[7 * 4 + ((i) + 4) % 7] = (t6 & t4) ^ t1;               \
        x[7 * 5 + ((i) + 5) % 7] = (~t4 & t2) ^ t6;              \
        x[7 * 6 + ((i) + 6) % 7] = (t2 | t0) ^ t4;               \
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

/* The permutation. a holds the state between the two halves of a round. */
static void qilin_f(uint64_t x[STATE_WORDS])
{
    uint64_t a[7][7];
    int t;

    for (t = 0; t < ROUNDS; t++) {
        LINEAR_AND_ROTATE_ROWS(0);
        LINEAR_AND_ROTATE_ROWS(1);
        LINEAR_AND_ROTATE_ROWS(2);
        LINEAR_AND_ROTATE_ROWS(3);
        LINEAR_AND_ROTATE_ROWS(4);
        LINEAR_AND_ROTATE_ROWS(5);
        LINEAR_AND_ROTATE_ROWS(6);

        Q_AND_ROTATE_COLUMNS(0);
        Q_AND_ROTATE_COLUMNS(1);
        Q_AND_ROTATE_COLUMNS(2);
        Q_AND_ROTATE_COLUMNS(3);
        Q_AND_ROTATE_COLUMNS(4);
        Q_AND_ROTATE_COLUMNS(5);
        Q_AND_ROTATE_COLUMNS(6);

        x[0] ^= RC[t];
    }
}

/* XOR a block at any address into the rate, then permute. */
static void absorb(uint64_t x[STATE_WORDS], const unsigned char *block)
{
    unsigned k;

    for (k = 0; k < RATE_WORDS; k++) {
        x[k] ^= load_le64(block + 8 * k);
    }
    qilin_f(x);
}

/*
 * Fill block with the last `bits` bits of a message (0 to RATE_BITS - 1), a 1 and
 * zeros; the unused low bits of a partial last byte are cleared. The padding's
 * other 1 is left to the caller. Reads no byte beyond the message.
 */
static void pad_block(unsigned char block[RATE_BYTES], const unsigned char *tail, unsigned bits)
{
    unsigned whole = bits / 8;
    unsigned one = 0x80U >> bits % 8; /* the bit after the message's last */

    memset(block, 0, RATE_BYTES);
    if (bits > 0) {
        memcpy(block, tail, (bits + 7) / 8);
    }
    block[whole] = (unsigned char)((block[whole] & ~(one - 1)) | one);
}

/*
 * Hash msg_len_bits bits, bit 0 being the most significant of msg[0], to
 * QILIN_DIGEST_BITS / 8 bytes at digest. msg may be NULL if the length is 0.
 * Returns 0, or 1 with digest untouched if an argument is wrong.
 */
int CryptHash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits,
              unsigned char *digest)
{
    uint64_t x[STATE_WORDS] = {0};
    unsigned char block[RATE_BYTES];
    unsigned k;

    if (digest_len_bits != QILIN_DIGEST_BITS || digest == NULL ||
        (msg == NULL && msg_len_bits != 0)) {
        return 1;
    }

    for (; msg_len_bits >= RATE_BITS; msg_len_bits -= RATE_BITS) {
        absorb(x, msg);
        msg += RATE_BYTES;
    }
    pad_block(block, msg, (unsigned)msg_len_bits);
    if (msg_len_bits == RATE_BITS - 1) { /* no room for both ones in this block */
        absorb(x, block);
        memset(block, 0, RATE_BYTES);
    }
    block[RATE_BYTES - 1] |= 1;
    absorb(x, block);

    for (k = 0; k < DIGEST_WORDS; k++) {
        store_le64(digest + 8 * k, x[k]);
    }
    return 0;
}
