/* SPDX-License-Identifier: MIT */

/*
 * SM3 in portable C99, after GB/T 32905-2016. Section numbers below are of
 * that document.
 *
 * Whole blocks are read straight from the message; only the last one or two,
 * which carry the padding, are put together in a buffer. Nothing is allocated,
 * no alignment and no byte order of the machine is assumed. No branch and no
 * address depends on message bytes, only on the length.
 */

#include <stdint.h>
#include <string.h>

#define BLOCK_BYTES 64
#define LENGTH_BYTES 8 /* the message length in bits, at the end of the padding */
#define DIGEST_BYTES 32

/*
 * Hashes inlen bytes at in and writes 32 bytes to out. in may be NULL when inlen
 * is 0, and out may overlap in. Returns 0; or -1, with nothing written, when out
 * is NULL, when in is NULL and inlen is not 0, or when the message has the 2^64
 * bits or more for which SM3 is not defined.
 */
int crypto_hash(unsigned char *out, const unsigned char *in, unsigned long long inlen);

/* Section 4.1. The standard gives no rule behind these words. */
static const uint32_t initial_state[8] = {
    UINT32_C(0x7380166f), UINT32_C(0x4914b2b9), UINT32_C(0x172442d7), UINT32_C(0xda8a0600),
    UINT32_C(0xa96f30bc), UINT32_C(0x163138aa), UINT32_C(0xe38dee4d), UINT32_C(0xb0fb0e4e),
};

/* Section 4.2: T_j, which the compression function uses only as T_j <<< (j mod 32).
 * The standard gives no rule behind these two words either. */
#define T_EARLY UINT32_C(0x79cc4519) /* j = 0..15 */
#define T_LATE UINT32_C(0x7a879d8a)  /* j = 16..63 */

/* A macro, because at -Os gcc would call a function for each word. */
#define LOAD_BE32(p)                                                           \
    (((uint32_t)(p)[0] << 24) | ((uint32_t)(p)[1] << 16) |                     \
     ((uint32_t)(p)[2] << 8) | (uint32_t)(p)[3])

static inline void store_be32(unsigned char *p, uint32_t x)
{
    int i;

    for (i = 3; i >= 0; i--) {
        p[i] = (unsigned char)(x & 0xff);
        x >>= 8;
    }
}

/* n = 0 is legal: T_j is rotated by it. */
#define ROTL(x, n) (((x) << ((n) & 31)) | ((x) >> ((32 - (n)) & 31)))

/* Section 4.3: FF_j and GG_j. The late ones are written with fewer operations than
 * there: the majority of x, y, z (a sum will do, the two terms share no bit), and
 * y or z as x picks. */
#define FF_EARLY(x, y, z) ((x) ^ (y) ^ (z))
#define GG_EARLY(x, y, z) ((x) ^ (y) ^ (z))
#define FF_LATE(x, y, z) (((x) & (y)) + (((x) ^ (y)) & (z)))
#define GG_LATE(x, y, z) ((((y) ^ (z)) & (x)) ^ (z))

/* Section 4.4. */
#define P0(x) ((x) ^ ROTL(x, 9) ^ ROTL(x, 17))
#define P1(x) ((x) ^ ROTL(x, 15) ^ ROTL(x, 23))

/* Section 5.3.2: W_n is made in the round that first needs it, j = n - 4, for
 * W'_j = W_j ^ W_(j+4); w[] holds the last 16 words. */
#define WORD(n) w[(n) & 15]
#define LOAD(n) (WORD(n) = LOAD_BE32(block + 4 * (n)))
#define MIX(n) (WORD(n) ^ WORD((n) + 7) ^ ROTL(WORD((n) + 13), 15))
#define EXPAND(n)                                                              \
    do {                                                                       \
        t = MIX(n);                                                            \
        WORD(n) = P1(t) ^ ROTL(WORD((n) + 3), 7) ^ WORD((n) + 10);             \
    } while (0)

/* Round j (section 5.3.3) with the variables renamed instead of moved: d becomes
 * the next a and h the next e. t is SS1 and u is A <<< 12, then TT2. */
#define ROUND(a, b, c, d, e, f, g, h, j, WHEN, NEXT)                           \
    do {                                                                       \
        NEXT((j) + 4);                                                         \
        u = ROTL(a, 12);                                                       \
        t = u + ROTL(T_##WHEN, j) + (e);                                       \
        t = ROTL(t, 7);                                                        \
        (d) += FF_##WHEN(a, b, c) + (u ^ t) + (WORD(j) ^ WORD((j) + 4));       \
        u = GG_##WHEN(e, f, g) + (h) + t + WORD(j);                            \
        (b) = ROTL(b, 9);                                                      \
        (f) = ROTL(f, 19);                                                     \
        (h) = P0(u);                                                           \
    } while (0)

/* After 4 rounds every variable has its first name again. */
#define ROUNDS4(j, WHEN, NEXT)                                                 \
    do {                                                                       \
        ROUND(a, b, c, d, e, f, g, h, (j) + 0, WHEN, NEXT);                    \
        ROUND(d, a, b, c, h, e, f, g, (j) + 1, WHEN, NEXT);                    \
        ROUND(c, d, a, b, g, h, e, f, (j) + 2, WHEN, NEXT);                    \
        ROUND(b, c, d, a, f, g, h, e, (j) + 3, WHEN, NEXT);                    \
    } while (0)

/* Section 5.3 for count blocks that follow one another from block on. The rounds
 * are unrolled whole so that each rotated T_j is a constant in the code. */
static void compress(uint32_t state[8], const unsigned char *block, unsigned long long count)
{
    uint32_t w[16];
    uint32_t a, b, c, d, e, f, g, h, t, u;

    for (; count > 0; count--) {
        a = state[0];
        b = state[1];
        c = state[2];
        d = state[3];
        e = state[4];
        f = state[5];
        g = state[6];
        h = state[7];

        LOAD(0);
        LOAD(1);
        LOAD(2);
        LOAD(3);
        ROUNDS4(0, EARLY, LOAD);
        ROUNDS4(4, EARLY, LOAD);
        ROUNDS4(8, EARLY, LOAD);
        ROUNDS4(12, EARLY, EXPAND);
        ROUNDS4(16, LATE, EXPAND);
        ROUNDS4(20, LATE, EXPAND);
        ROUNDS4(24, LATE, EXPAND);
        ROUNDS4(28, LATE, EXPAND);
        ROUNDS4(32, LATE, EXPAND);
        ROUNDS4(36, LATE, EXPAND);
        ROUNDS4(40, LATE, EXPAND);
        ROUNDS4(44, LATE, EXPAND);
        ROUNDS4(48, LATE, EXPAND);
        ROUNDS4(52, LATE, EXPAND);
        ROUNDS4(56, LATE, EXPAND);
        ROUNDS4(60, LATE, EXPAND);

        state[0] ^= a;
        state[1] ^= b;
        state[2] ^= c;
        state[3] ^= d;
        state[4] ^= e;
        state[5] ^= f;
        state[6] ^= g;
        state[7] ^= h;
        block += BLOCK_BYTES;
    }
}

int crypto_hash(unsigned char *out, const unsigned char *in, unsigned long long inlen)
{
    uint32_t state[8];
    unsigned char last[2 * BLOCK_BYTES];
    const unsigned long long whole = inlen / BLOCK_BYTES;
    const size_t rest = (size_t)(inlen % BLOCK_BYTES);
    const size_t blocks = rest + 1 + LENGTH_BYTES <= BLOCK_BYTES ? 1 : 2;
    int i;

    if (out == NULL || (in == NULL && inlen > 0) || inlen >> 61 != 0) {
        return -1;
    }

    memcpy(state, initial_state, sizeof state);
    compress(state, in, whole);

    /* Section 5.2: a one bit, zero bits, and the length in bits as 64 bits. */
    memset(last, 0, sizeof last);
    if (rest > 0) {
        memcpy(last, in + (inlen - rest), rest);
    }
    last[rest] = 0x80;
    store_be32(last + blocks * BLOCK_BYTES - 8, (uint32_t)(inlen >> 29));
    store_be32(last + blocks * BLOCK_BYTES - 4, (uint32_t)((inlen << 3) & UINT32_C(0xffffffff)));
    compress(state, last, blocks);

    for (i = 0; i < DIGEST_BYTES / 4; i++) {
        store_be32(out + 4 * i, state[i]);
    }
    return 0;
}
