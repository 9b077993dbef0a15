/* SPDX-License-Identifier: MIT */

/*
 * TaiChi (NGCC hash candidate 25), portable C99. One file serves the three
 * instances; -DTAICHI_DIGEST_BITS=512, 768 or 1024 picks one.
 *
 * How the code maps onto the specification:
 *
 *   padding, absorb, squeeze    CryptHash(); pad_block() fills the last block
 *   Step(M, D)                  step(); the caller has XORed M into S
 *   P_b                         permute(), a pass of its loop for each round t
 *   step 1                      LINEAR(j), on column j
 *   steps 2 and 3               CHI_AND_MOVE(i, ...), on row i
 *   step 4                      the last lines of the loop
 *
 * Word 5*i + j is row i, column j. Step 3 moves nothing: step 2 stores each word
 * where it has to go, at an index that is a constant. No index and no branch
 * depends on message data.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef TAICHI_DIGEST_BITS
#error "define TAICHI_DIGEST_BITS as 512, 768 or 1024"
#elif TAICHI_DIGEST_BITS != 512 && TAICHI_DIGEST_BITS != 768 && TAICHI_DIGEST_BITS != 1024
#error "TAICHI_DIGEST_BITS must be 512, 768 or 1024"
#endif

#define ROUNDS 12
#define LANES 30
#define DIGEST_WORDS (TAICHI_DIGEST_BITS / 64)

/* The capacity branches are as long as the digest: rates 1408, 1152 and 896. */
#define RATE_BITS (64 * LANES - TAICHI_DIGEST_BITS)
#define RATE_BYTES (RATE_BITS / 8)
#define RATE_WORDS (RATE_BITS / 64)
#define CAPACITY_WORDS (TAICHI_DIGEST_BITS / 64)

/* D of Step(M, D). */
#define DOMAIN_BLOCK 1
#define DOMAIN_LAST_BLOCK 2
#define DOMAIN_SQUEEZE 3

/*
 * Round constants, five a round: K[60*(b - 1) + 5*t + j] goes to lane j in round t
 * of P_b. The rule, a 7-bit LFSR: K[q] has bit p_l set where s_l = 1, with
 * (p_0..p_6) = (0, 2, 3, 6, 13, 28, 59); s is (1, 0, 0, 0, 0, 0, 0) for q = 0, and
 * the next s is (s6, s0 ^ s6, s1, s2, s3, s4, s5).
 */
static const uint64_t K[120] = {
    /* P_1, rounds 0 to 11 */
    0x000000000000001, 0x000000000000004, 0x000000000000008, 0x000000000000040, 0x000000000002000,
    0x000000010000000, 0x800000000000000, 0x000000000000005, 0x00000000000000c, 0x000000000000048,
    0x000000000002040, 0x000000010002000, 0x800000010000000, 0x800000000000005, 0x000000000000009,
    0x000000000000044, 0x000000000002008, 0x000000010000040, 0x800000000002000, 0x000000010000005,
    0x80000000000000c, 0x00000000000004d, 0x00000000000204c, 0x000000010002048, 0x800000010002040,
    0x800000010002005, 0x800000010000009, 0x800000000000041, 0x000000000002001, 0x000000010000004,
    0x800000000000008, 0x000000000000045, 0x00000000000200c, 0x000000010000048, 0x800000000002040,
    0x000000010002005, 0x80000001000000c, 0x80000000000004d, 0x000000000002049, 0x000000010002044,
    0x800000010002008, 0x800000010000045, 0x800000000002009, 0x000000010000041, 0x800000000002004,
    0x00000001000000d, 0x80000000000004c, 0x00000000000204d, 0x00000001000204c, 0x800000010002048,
    0x800000010002045, 0x800000010002009, 0x800000010000041, 0x800000000002001, 0x000000010000001,
    0x800000000000004, 0x00000000000000d, 0x00000000000004c, 0x000000000002048, 0x000000010002040,
    /* P_2, rounds 0 to 11 */
    0x800000010002000, 0x800000010000005, 0x800000000000009, 0x000000000000041, 0x000000000002004,
    0x000000010000008, 0x800000000000040, 0x000000000002005, 0x00000001000000c, 0x800000000000048,
    0x000000000002045, 0x00000001000200c, 0x800000010000048, 0x800000000002045, 0x000000010002009,
    0x800000010000044, 0x80000000000200d, 0x000000010000049, 0x800000000002044, 0x00000001000200d,
    0x80000001000004c, 0x80000000000204d, 0x000000010002049, 0x800000010002044, 0x80000001000200d,
    0x800000010000049, 0x800000000002041, 0x000000010002001, 0x800000010000004, 0x80000000000000d,
    0x000000000000049, 0x000000000002044, 0x000000010002008, 0x800000010000040, 0x800000000002005,
    0x000000010000009, 0x800000000000044, 0x00000000000200d, 0x00000001000004c, 0x800000000002048,
    0x000000010002045, 0x80000001000200c, 0x80000001000004d, 0x800000000002049, 0x000000010002041,
    0x800000010002004, 0x80000001000000d, 0x800000000000049, 0x000000000002041, 0x000000010002004,
    0x800000010000008, 0x800000000000045, 0x000000000002009, 0x000000010000044, 0x800000000002008,
    0x000000010000045, 0x80000000000200c, 0x00000001000004d, 0x80000000000204c, 0x00000001000204d,
};

/* n is 1 to 63: where the specification has a rotation by 0, none is written. */
#define ROTL(x, n) ((x) << (n) | (x) >> (64 - (n)))

/* Step 1: the linear layer on column j of x. */
#define LINEAR(j)                                 \
    do {                                          \
        const uint64_t y0 = x[(j) + 0];           \
        const uint64_t y1 = x[(j) + 5];           \
        const uint64_t y2 = x[(j) + 10];          \
        const uint64_t y3 = x[(j) + 15];          \
        const uint64_t y4 = x[(j) + 20];          \
        const uint64_t y5 = x[(j) + 25];          \
        const uint64_t y6 = y0 ^ ROTL(y1, 8);     \
        const uint64_t y7 = y1 ^ y2;              \
        const uint64_t y8 = y2 ^ y4;              \
        const uint64_t y9 = y4 ^ y3;              \
        const uint64_t y10 = y3 ^ y5;             \
        const uint64_t y11 = y5 ^ y6;             \
        const uint64_t y12 = y6 ^ ROTL(y0, 23);   \
        const uint64_t y13 = y7 ^ ROTL(y11, 62);  \
        const uint64_t y14 = y13 ^ ROTL(y8, 35);  \
        const uint64_t y15 = y14 ^ ROTL(y9, 14);  \
        const uint64_t y16 = y15 ^ ROTL(y10, 48); \
        const uint64_t y17 = y16 ^ ROTL(y12, 1);  \
        const uint64_t y18 = y15 ^ ROTL(y17, 57); \
        const uint64_t y19 = y18 ^ ROTL(y14, 63); \
        const uint64_t y20 = y11 ^ ROTL(y19, 58); \
        const uint64_t y21 = y20 ^ ROTL(y13, 22); \
        a[0][j] = y16;                            \
        a[1][j] = ROTL(y17, 15);                  \
        a[2][j] = ROTL(y18, 48);                  \
        a[3][j] = ROTL(y19, 63);                  \
        a[4][j] = ROTL(y20, 6);                   \
        a[5][j] = ROTL(y21, 33);                  \
    } while (0)

/* Step 3: where lane n goes. 31 is prime, so this permutes lanes 0 to 29. */
#define MOVED(n) (10 * ((n) + 1) % 31 - 1)

/*
 * Steps 2 and 3 on row i of a. The formulas are the specification's with terms
 * put together: u ^ (u & v) is u & ~v, and (u & w) ^ (v & w) is (u ^ v) & w.
 */
#define CHI_AND_MOVE(i)                                               \
    do {                                                              \
        const uint64_t a0 = a[i][0], a1 = a[i][1], a2 = a[i][2];      \
        const uint64_t a3 = a[i][3], a4 = a[i][4];                    \
        x[MOVED(5 * (i) + 0)] = (a1 & ~a0) ^ (a2 & ~a1) ^ (a3 & ~a4); \
        x[MOVED(5 * (i) + 1)] = ~a1 ^ ((a0 ^ a1) & a3) ^ (a4 & ~a2);  \
        x[MOVED(5 * (i) + 2)] = (a1 & a2) ^ (a3 & ~a2) ^ (a4 & ~a0);  \
        x[MOVED(5 * (i) + 3)] = (a0 & a2) ^ ((a1 ^ a2) & a3) ^ a4;    \
        x[MOVED(5 * (i) + 4)] = a0 ^ (a2 & a3) ^ (a1 & a4);           \
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
 * P_b on x, with k = K for b = 1 and K + 60 for b = 2. a holds the lanes between
 * the two halves of a round.
 */
static void permute(uint64_t x[LANES], const uint64_t *k)
{
    uint64_t a[6][5];
    int t;

    for (t = 0; t < ROUNDS; t++) {
        LINEAR(0);
        LINEAR(1);
        LINEAR(2);
        LINEAR(3);
        LINEAR(4);

        CHI_AND_MOVE(0);
        CHI_AND_MOVE(1);
        CHI_AND_MOVE(2);
        CHI_AND_MOVE(3);
        CHI_AND_MOVE(4);
        CHI_AND_MOVE(5);

        x[0] ^= k[5 * t + 0];
        x[1] ^= k[5 * t + 1];
        x[2] ^= k[5 * t + 2];
        x[3] ^= k[5 * t + 3];
        x[4] ^= k[5 * t + 4];
    }
}

/*
 * Step(M, domain), M being in S already. x is S || L, and r is R, before and after.
 * P_1 makes of x A || B; then R ^ B takes the place of B for P_2, and r keeps B
 * until C is there.
 */
static void step(uint64_t x[LANES], uint64_t r[CAPACITY_WORDS], uint64_t domain)
{
    uint64_t *capacity = x + RATE_WORDS;
    unsigned i;

    x[LANES - 1] ^= domain;
    permute(x, K);
    for (i = 0; i < CAPACITY_WORDS; i++) {
        uint64_t b = capacity[i];

        capacity[i] ^= r[i];
        r[i] = b;
    }
    permute(x, K + 60);
    for (i = 0; i < CAPACITY_WORDS; i++) {
        r[i] ^= capacity[i];
    }
}

/* XOR a block at any address into S, then step. */
static void absorb(uint64_t x[LANES], uint64_t r[CAPACITY_WORDS], const unsigned char *block,
                   uint64_t domain)
{
    unsigned k;

    for (k = 0; k < RATE_WORDS; k++) {
        x[k] ^= load_le64(block + 8 * k);
    }
    step(x, r, domain);
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
 * TAICHI_DIGEST_BITS / 8 bytes at digest. msg may be NULL if the length is 0.
 * Returns 0, or 1 with digest untouched if an argument is wrong.
 */
int CryptHash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits,
              unsigned char *digest)
{
    uint64_t x[LANES] = {0};
    uint64_t r[CAPACITY_WORDS] = {0};
    unsigned char block[RATE_BYTES];
    unsigned k;

    if (digest_len_bits != TAICHI_DIGEST_BITS || digest == NULL ||
        (msg == NULL && msg_len_bits != 0)) {
        return 1;
    }

    for (; msg_len_bits >= RATE_BITS; msg_len_bits -= RATE_BITS) {
        absorb(x, r, msg, DOMAIN_BLOCK);
        msg += RATE_BYTES;
    }
    pad_block(block, msg, (unsigned)msg_len_bits);
    if (msg_len_bits == RATE_BITS - 1) { /* no room for both ones in this block */
        absorb(x, r, block, DOMAIN_BLOCK);
        memset(block, 0, RATE_BYTES);
    }
    block[RATE_BYTES - 1] |= 1;
    absorb(x, r, block, DOMAIN_LAST_BLOCK);

    for (k = 0; k < DIGEST_WORDS; k++) {
        if (k == RATE_WORDS) { /* only TaiChi-1024: 14 words and 2 more */
            step(x, r, DOMAIN_SQUEEZE);
        }
        store_le64(digest + 8 * k, x[k % RATE_WORDS]);
    }
    return 0;
}
