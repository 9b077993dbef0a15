/* SPDX-License-Identifier: MIT */

/*
 * SHA-512 in portable C99, after FIPS 180-4 (August 2015). Section numbers
 * below are of that document.
 *
 * Whole blocks are read straight from the message; only the last one or two,
 * which carry the padding, are put together in a buffer. Nothing is allocated,
 * no alignment and no byte order of the machine is assumed. No branch and no
 * address depends on message bytes, only on the length.
 */

#include <stdint.h>
#include <string.h>

#define BLOCK_BYTES 128
#define LENGTH_BYTES 16 /* the message length in bits, at the end of the padding */
#define DIGEST_BYTES 64
#define ROUNDS 80

/*
 * Hashes inlen bytes at in and writes 64 bytes to out. in may be NULL when inlen
 * is 0, and out may overlap in. Returns 0; or -1, with nothing written, when out
 * is NULL or in is NULL and inlen is not 0.
 */
int crypto_hash(unsigned char *out, const unsigned char *in, unsigned long long inlen);

/* Section 5.3.5: the first 64 bits of the fraction of sqrt(p), p the first 8 primes:
 * floor(sqrt(p) * 2^64) mod 2^64. */
static const uint64_t initial_state[8] = {
    UINT64_C(0x6a09e667f3bcc908), UINT64_C(0xbb67ae8584caa73b),
    UINT64_C(0x3c6ef372fe94f82b), UINT64_C(0xa54ff53a5f1d36f1),
    UINT64_C(0x510e527fade682d1), UINT64_C(0x9b05688c2b3e6c1f),
    UINT64_C(0x1f83d9abfb41bd6b), UINT64_C(0x5be0cd19137e2179),
};

/* Section 4.2.3: the first 64 bits of the fraction of cbrt(p), p the first 80 primes:
 * floor(cbrt(p) * 2^64) mod 2^64. */
static const uint64_t round_constants[ROUNDS] = {
    UINT64_C(0x428a2f98d728ae22), UINT64_C(0x7137449123ef65cd),
    UINT64_C(0xb5c0fbcfec4d3b2f), UINT64_C(0xe9b5dba58189dbbc),
    UINT64_C(0x3956c25bf348b538), UINT64_C(0x59f111f1b605d019),
    UINT64_C(0x923f82a4af194f9b), UINT64_C(0xab1c5ed5da6d8118),
    UINT64_C(0xd807aa98a3030242), UINT64_C(0x12835b0145706fbe),
    UINT64_C(0x243185be4ee4b28c), UINT64_C(0x550c7dc3d5ffb4e2),
    UINT64_C(0x72be5d74f27b896f), UINT64_C(0x80deb1fe3b1696b1),
    UINT64_C(0x9bdc06a725c71235), UINT64_C(0xc19bf174cf692694),
    UINT64_C(0xe49b69c19ef14ad2), UINT64_C(0xefbe4786384f25e3),
    UINT64_C(0x0fc19dc68b8cd5b5), UINT64_C(0x240ca1cc77ac9c65),
    UINT64_C(0x2de92c6f592b0275), UINT64_C(0x4a7484aa6ea6e483),
    UINT64_C(0x5cb0a9dcbd41fbd4), UINT64_C(0x76f988da831153b5),
    UINT64_C(0x983e5152ee66dfab), UINT64_C(0xa831c66d2db43210),
    UINT64_C(0xb00327c898fb213f), UINT64_C(0xbf597fc7beef0ee4),
    UINT64_C(0xc6e00bf33da88fc2), UINT64_C(0xd5a79147930aa725),
    UINT64_C(0x06ca6351e003826f), UINT64_C(0x142929670a0e6e70),
    UINT64_C(0x27b70a8546d22ffc), UINT64_C(0x2e1b21385c26c926),
    UINT64_C(0x4d2c6dfc5ac42aed), UINT64_C(0x53380d139d95b3df),
    UINT64_C(0x650a73548baf63de), UINT64_C(0x766a0abb3c77b2a8),
    UINT64_C(0x81c2c92e47edaee6), UINT64_C(0x92722c851482353b),
    UINT64_C(0xa2bfe8a14cf10364), UINT64_C(0xa81a664bbc423001),
    UINT64_C(0xc24b8b70d0f89791), UINT64_C(0xc76c51a30654be30),
    UINT64_C(0xd192e819d6ef5218), UINT64_C(0xd69906245565a910),
    UINT64_C(0xf40e35855771202a), UINT64_C(0x106aa07032bbd1b8),
    UINT64_C(0x19a4c116b8d2d0c8), UINT64_C(0x1e376c085141ab53),
    UINT64_C(0x2748774cdf8eeb99), UINT64_C(0x34b0bcb5e19b48a8),
    UINT64_C(0x391c0cb3c5c95a63), UINT64_C(0x4ed8aa4ae3418acb),
    UINT64_C(0x5b9cca4f7763e373), UINT64_C(0x682e6ff3d6b2b8a3),
    UINT64_C(0x748f82ee5defb2fc), UINT64_C(0x78a5636f43172f60),
    UINT64_C(0x84c87814a1f0ab72), UINT64_C(0x8cc702081a6439ec),
    UINT64_C(0x90befffa23631e28), UINT64_C(0xa4506cebde82bde9),
    UINT64_C(0xbef9a3f7b2c67915), UINT64_C(0xc67178f2e372532b),
    UINT64_C(0xca273eceea26619c), UINT64_C(0xd186b8c721c0c207),
    UINT64_C(0xeada7dd6cde0eb1e), UINT64_C(0xf57d4f7fee6ed178),
    UINT64_C(0x06f067aa72176fba), UINT64_C(0x0a637dc5a2c898a6),
    UINT64_C(0x113f9804bef90dae), UINT64_C(0x1b710b35131c471b),
    UINT64_C(0x28db77f523047d84), UINT64_C(0x32caab7b40c72493),
    UINT64_C(0x3c9ebe0a15c9bebc), UINT64_C(0x431d67c49c100d4c),
    UINT64_C(0x4cc5d4becb3e42b6), UINT64_C(0x597f299cfc657e2a),
    UINT64_C(0x5fcb6fab3ad6faec), UINT64_C(0x6c44198c4a475817),
};

/* A macro, because at -Os gcc would call a function for each word. */
#define LOAD_BE64(p)                                                           \
    (((uint64_t)(p)[0] << 56) | ((uint64_t)(p)[1] << 48) |                     \
     ((uint64_t)(p)[2] << 40) | ((uint64_t)(p)[3] << 32) |                     \
     ((uint64_t)(p)[4] << 24) | ((uint64_t)(p)[5] << 16) |                     \
     ((uint64_t)(p)[6] << 8) | (uint64_t)(p)[7])

static inline void store_be64(unsigned char *p, uint64_t x)
{
    int i;

    for (i = 7; i >= 0; i--) {
        p[i] = (unsigned char)(x & 0xff);
        x >>= 8;
    }
}

/* Section 4.1.3. CH and MAJ are written with fewer operations than there:
 * CH picks y where x is 1 and z where it is 0; MAJ is y where x and y agree, else z,
 * and yz is y ^ z, which is the x ^ y of the round before. */
#define ROTR(x, n) (((x) >> (n)) | ((x) << (64 - (n))))
#define CH(x, y, z) ((((y) ^ (z)) & (x)) ^ (z))
#define MAJ(xy, y, yz) (((xy) & (yz)) ^ (y))
#define BIG_SIGMA0(x) (ROTR(x, 28) ^ ROTR(x, 34) ^ ROTR(x, 39))
#define BIG_SIGMA1(x) (ROTR(x, 14) ^ ROTR(x, 18) ^ ROTR(x, 41))
#define SMALL_SIGMA0(x) (ROTR(x, 1) ^ ROTR(x, 8) ^ ((x) >> 7))
#define SMALL_SIGMA1(x) (ROTR(x, 19) ^ ROTR(x, 61) ^ ((x) >> 6))

/* W_i of the first 16 rounds, and of the later ones; w[] holds the last 16 words
 * (section 6.4.2, step 1). */
#define LOAD(i) (w[i] = LOAD_BE64(block + 8 * (i)))
#define EXPAND(i)                                                              \
    (w[i] += SMALL_SIGMA1(w[((i) + 14) & 15]) + w[((i) + 9) & 15] +            \
             SMALL_SIGMA0(w[((i) + 1) & 15]))

/* One round (section 6.4.2, step 3) with the variables renamed instead of moved:
 * d becomes the next e and h the next a. xy and yz carry a ^ b and b ^ c. */
#define ROUND(a, b, c, d, e, f, g, h, xy, yz, i, W)                            \
    do {                                                                       \
        (h) += BIG_SIGMA1(e) + CH(e, f, g) + k[i] + W(i);                      \
        (xy) = (a) ^ (b);                                                      \
        (d) += (h);                                                            \
        (h) += BIG_SIGMA0(a) + MAJ(xy, b, yz);                                 \
    } while (0)

/* After 8 rounds every variable has its first name again. */
#define ROUNDS8(i, W)                                                          \
    do {                                                                       \
        ROUND(a, b, c, d, e, f, g, h, t, u, (i) + 0, W);                       \
        ROUND(h, a, b, c, d, e, f, g, u, t, (i) + 1, W);                       \
        ROUND(g, h, a, b, c, d, e, f, t, u, (i) + 2, W);                       \
        ROUND(f, g, h, a, b, c, d, e, u, t, (i) + 3, W);                       \
        ROUND(e, f, g, h, a, b, c, d, t, u, (i) + 4, W);                       \
        ROUND(d, e, f, g, h, a, b, c, u, t, (i) + 5, W);                       \
        ROUND(c, d, e, f, g, h, a, b, t, u, (i) + 6, W);                       \
        ROUND(b, c, d, e, f, g, h, a, u, t, (i) + 7, W);                       \
    } while (0)

/* Section 6.4.2 for count blocks that follow one another from block on. */
static void compress(uint64_t state[8], const unsigned char *block, unsigned long long count)
{
    uint64_t w[16];
    uint64_t a, b, c, d, e, f, g, h, t, u;
    const uint64_t *k;

    for (; count > 0; count--) {
        a = state[0];
        b = state[1];
        c = state[2];
        d = state[3];
        e = state[4];
        f = state[5];
        g = state[6];
        h = state[7];
        u = b ^ c;

        k = round_constants;
        ROUNDS8(0, LOAD);
        ROUNDS8(8, LOAD);
        for (k += 16; k < round_constants + ROUNDS; k += 16) {
            ROUNDS8(0, EXPAND);
            ROUNDS8(8, EXPAND);
        }

        state[0] += a;
        state[1] += b;
        state[2] += c;
        state[3] += d;
        state[4] += e;
        state[5] += f;
        state[6] += g;
        state[7] += h;
        block += BLOCK_BYTES;
    }
}

int crypto_hash(unsigned char *out, const unsigned char *in, unsigned long long inlen)
{
    uint64_t state[8];
    unsigned char last[2 * BLOCK_BYTES];
    const unsigned long long whole = inlen / BLOCK_BYTES;
    const size_t rest = (size_t)(inlen % BLOCK_BYTES);
    const size_t blocks = rest + 1 + LENGTH_BYTES <= BLOCK_BYTES ? 1 : 2;
    int i;

    if (out == NULL || (in == NULL && inlen > 0)) {
        return -1;
    }

    memcpy(state, initial_state, sizeof state);
    compress(state, in, whole);

    /* Section 5.1.2: a one bit, zero bits, and the length in bits as 128 bits. */
    memset(last, 0, sizeof last);
    if (rest > 0) {
        memcpy(last, in + (inlen - rest), rest);
    }
    last[rest] = 0x80;
    store_be64(last + blocks * BLOCK_BYTES - 16, (uint64_t)inlen >> 61);
    store_be64(last + blocks * BLOCK_BYTES - 8, (uint64_t)inlen << 3);
    compress(state, last, blocks);

    for (i = 0; i < DIGEST_BYTES / 8; i++) {
        store_be64(out + 8 * i, state[i]);
    }
    return 0;
}
