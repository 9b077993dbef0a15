/* SPDX-License-Identifier: MIT */

/*
 * Pavelor (NGCC hash candidate 22), portable C99. One file serves the three
 * instances; -DPAVELOR_DIGEST_BITS=512, 768 or 1024 picks one.
 *
 * NOT CONSTANT-TIME: the AES round is done by look-ups in 4 KiB of tables,
 * indexed by bytes that depend on the message. Caches can leak them; do not
 * hash secrets with this core where others share the machine.
 *
 * How the code maps onto the specification:
 *
 *   initial state, padding, absorb, squeeze    CryptHash()
 *   Paff, the permutation of 24 rounds         paff()
 *   one round: S'[j] = T[p1[j]] XOR S[p2[j]]   paff_round(), a line for each j
 *   A = MixColumns(ShiftRows(SubBytes(x)))     AES_COLUMN(), from T0 to T3
 *
 * Subblock j is the words s[4*j] to s[4*j + 3]. A word is a column of the AES
 * state, row 0 in its top byte, so that a subblock read as a 128-bit big-endian
 * integer is its four words in order. Rounds go from one state to another and
 * back: subblocks are renamed by p1 and p2, never moved.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef PAVELOR_DIGEST_BITS
#error "define PAVELOR_DIGEST_BITS as 512, 768 or 1024"
#elif PAVELOR_DIGEST_BITS != 512 && PAVELOR_DIGEST_BITS != 768 && PAVELOR_DIGEST_BITS != 1024
#error "PAVELOR_DIGEST_BITS must be 512, 768 or 1024"
#endif

#define ROUNDS 24
#define STATE_BITS 2560
#define STATE_WORDS (STATE_BITS / 32)
#define DIGEST_WORDS (PAVELOR_DIGEST_BITS / 32)

/* The capacity is twice the digest: rates 1536, 1024 and 512. */
#define RATE_BITS (STATE_BITS - 2 * PAVELOR_DIGEST_BITS)
#define RATE_BYTES (RATE_BITS / 8)
#define RATE_WORDS (RATE_BITS / 32)

/*
 * The AES S-box, entries 0 to 255 in order, F applied to each. Entry x is
 * b ^ rotl(b,1) ^ rotl(b,2) ^ rotl(b,3) ^ rotl(b,4) ^ 0x63, rotating in 8 bits,
 * where b is the inverse of x modulo X^8+X^4+X^3+X+1 (0x11b), and b = 0 for x = 0.
 */
#define SBOX(F)                                                             \
    F(0x63), F(0x7c), F(0x77), F(0x7b), F(0xf2), F(0x6b), F(0x6f), F(0xc5), \
    F(0x30), F(0x01), F(0x67), F(0x2b), F(0xfe), F(0xd7), F(0xab), F(0x76), \
    F(0xca), F(0x82), F(0xc9), F(0x7d), F(0xfa), F(0x59), F(0x47), F(0xf0), \
    F(0xad), F(0xd4), F(0xa2), F(0xaf), F(0x9c), F(0xa4), F(0x72), F(0xc0), \
    F(0xb7), F(0xfd), F(0x93), F(0x26), F(0x36), F(0x3f), F(0xf7), F(0xcc), \
    F(0x34), F(0xa5), F(0xe5), F(0xf1), F(0x71), F(0xd8), F(0x31), F(0x15), \
    F(0x04), F(0xc7), F(0x23), F(0xc3), F(0x18), F(0x96), F(0x05), F(0x9a), \
    F(0x07), F(0x12), F(0x80), F(0xe2), F(0xeb), F(0x27), F(0xb2), F(0x75), \
    F(0x09), F(0x83), F(0x2c), F(0x1a), F(0x1b), F(0x6e), F(0x5a), F(0xa0), \
    F(0x52), F(0x3b), F(0xd6), F(0xb3), F(0x29), F(0xe3), F(0x2f), F(0x84), \
    F(0x53), F(0xd1), F(0x00), F(0xed), F(0x20), F(0xfc), F(0xb1), F(0x5b), \
    F(0x6a), F(0xcb), F(0xbe), F(0x39), F(0x4a), F(0x4c), F(0x58), F(0xcf), \
    F(0xd0), F(0xef), F(0xaa), F(0xfb), F(0x43), F(0x4d), F(0x33), F(0x85), \
    F(0x45), F(0xf9), F(0x02), F(0x7f), F(0x50), F(0x3c), F(0x9f), F(0xa8), \
    F(0x51), F(0xa3), F(0x40), F(0x8f), F(0x92), F(0x9d), F(0x38), F(0xf5), \
    F(0xbc), F(0xb6), F(0xda), F(0x21), F(0x10), F(0xff), F(0xf3), F(0xd2), \
    F(0xcd), F(0x0c), F(0x13), F(0xec), F(0x5f), F(0x97), F(0x44), F(0x17), \
    F(0xc4), F(0xa7), F(0x7e), F(0x3d), F(0x64), F(0x5d), F(0x19), F(0x73), \
    F(0x60), F(0x81), F(0x4f), F(0xdc), F(0x22), F(0x2a), F(0x90), F(0x88), \
    F(0x46), F(0xee), F(0xb8), F(0x14), F(0xde), F(0x5e), F(0x0b), F(0xdb), \
    F(0xe0), F(0x32), F(0x3a), F(0x0a), F(0x49), F(0x06), F(0x24), F(0x5c), \
    F(0xc2), F(0xd3), F(0xac), F(0x62), F(0x91), F(0x95), F(0xe4), F(0x79), \
    F(0xe7), F(0xc8), F(0x37), F(0x6d), F(0x8d), F(0xd5), F(0x4e), F(0xa9), \
    F(0x6c), F(0x56), F(0xf4), F(0xea), F(0x65), F(0x7a), F(0xae), F(0x08), \
    F(0xba), F(0x78), F(0x25), F(0x2e), F(0x1c), F(0xa6), F(0xb4), F(0xc6), \
    F(0xe8), F(0xdd), F(0x74), F(0x1f), F(0x4b), F(0xbd), F(0x8b), F(0x8a), \
    F(0x70), F(0x3e), F(0xb5), F(0x66), F(0x48), F(0x03), F(0xf6), F(0x0e), \
    F(0x61), F(0x35), F(0x57), F(0xb9), F(0x86), F(0xc1), F(0x1d), F(0x9e), \
    F(0xe1), F(0xf8), F(0x98), F(0x11), F(0x69), F(0xd9), F(0x8e), F(0x94), \
    F(0x9b), F(0x1e), F(0x87), F(0xe9), F(0xce), F(0x55), F(0x28), F(0xdf), \
    F(0x8c), F(0xa1), F(0x89), F(0x0d), F(0xbf), F(0xe6), F(0x42), F(0x68), \
    F(0x41), F(0x99), F(0x2d), F(0x0f), F(0xb0), F(0x54), F(0xbb), F(0x16)

/*
 * T0[x] to T3[x] are what a byte x of row 0 to 3 adds to its column after
 * SubBytes and MixColumns: with s = SBOX[x], T0 is the bytes 2s, s, s, 3s from
 * row 0 down (the top byte first), products modulo 0x11b; T1, T2 and T3 are T0
 * rotated right by 8, 16 and 24 bits.
 */
#define MUL2(s) ((uint32_t)((s) << 1 ^ ((s) >> 7) * 0x11b))
#define MUL3(s) (MUL2(s) ^ (uint32_t)(s))
#define WORD(a, b, c, d) \
    ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))
#define T0_ENTRY(s) WORD(MUL2(s), s, s, MUL3(s))
#define T1_ENTRY(s) WORD(MUL3(s), MUL2(s), s, s)
#define T2_ENTRY(s) WORD(s, MUL3(s), MUL2(s), s)
#define T3_ENTRY(s) WORD(s, s, MUL3(s), MUL2(s))

static const uint32_t T0[256] = {SBOX(T0_ENTRY)};
static const uint32_t T1[256] = {SBOX(T1_ENTRY)};
static const uint32_t T2[256] = {SBOX(T2_ENTRY)};
static const uint32_t T3[256] = {SBOX(T3_ENTRY)};

/*
 * RC[i] is 128 bits of the fraction of pi from bit 128*i on, except RC[7] and
 * RC[22]: those begin with hex digit 0, which is dropped and a 0 appended.
 */
static const uint32_t RC[ROUNDS][4] = {
    {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
    {0xa4093822, 0x299f31d0, 0x082efa98, 0xec4e6c89},
    {0x452821e6, 0x38d01377, 0xbe5466cf, 0x34e90c6c},
    {0xc0ac29b7, 0xc97c50dd, 0x3f84d5b5, 0xb5470917},
    {0x9216d5d9, 0x8979fb1b, 0xd1310ba6, 0x98dfb5ac},
    {0x2ffd72db, 0xd01adfb7, 0xb8e1afed, 0x6a267e96},
    {0xba7c9045, 0xf12c7f99, 0x24a19947, 0xb3916cf7},
    {0x801f2e28, 0x58efc166, 0x36920d87, 0x1574e690},
    {0xa458fea3, 0xf4933d7e, 0x0d95748f, 0x728eb658},
    {0x718bcd58, 0x82154aee, 0x7b54a41d, 0xc25a59b5},
    {0x9c30d539, 0x2af26013, 0xc5d1b023, 0x286085f0},
    {0xca417918, 0xb8db38ef, 0x8e79dcb0, 0x603a180e},
    {0x6c9e0e8b, 0xb01e8a3e, 0xd71577c1, 0xbd314b27},
    {0x78af2fda, 0x55605c60, 0xe65525f3, 0xaa55ab94},
    {0x57489862, 0x63e81440, 0x55ca396a, 0x2aab10b6},
    {0xb4cc5c34, 0x1141e8ce, 0xa15486af, 0x7c72e993},
    {0xb3ee1411, 0x636fbc2a, 0x2ba9c55d, 0x741831f6},
    {0xce5c3e16, 0x9b87931e, 0xafd6ba33, 0x6c24cf5c},
    {0x7a325381, 0x28958677, 0x3b8f4898, 0x6b4bb9af},
    {0xc4bfe81b, 0x66282193, 0x61d809cc, 0xfb21a991},
    {0x487cac60, 0x5dec8032, 0xef845d5d, 0xe98575b1},
    {0xdc262302, 0xeb651b88, 0x23893e81, 0xd396acc5},
    {0xf6d6ff38, 0x3f442392, 0xe0b4482a, 0x48420040},
    {0x69c8f04a, 0x9e1f9b5e, 0x21c66842, 0xf6e96c9a},
};

/* Word `col` of A(in[j]): ShiftRows takes row r from the column r further on. */
#define AES_COLUMN(j, col)                            \
    (T0[in[4 * (j) + (col)] >> 24] ^                  \
     T1[in[4 * (j) + ((col) + 1) % 4] >> 16 & 0xff] ^ \
     T2[in[4 * (j) + ((col) + 2) % 4] >> 8 & 0xff] ^  \
     T3[in[4 * (j) + ((col) + 3) % 4] & 0xff])

/* out[j] = A(in[p1]) XOR in[p2]. */
#define AES_LANE(j, p1, p2)                                      \
    do {                                                         \
        out[4 * (j)] = AES_COLUMN(p1, 0) ^ in[4 * (p2)];         \
        out[4 * (j) + 1] = AES_COLUMN(p1, 1) ^ in[4 * (p2) + 1]; \
        out[4 * (j) + 2] = AES_COLUMN(p1, 2) ^ in[4 * (p2) + 2]; \
        out[4 * (j) + 3] = AES_COLUMN(p1, 3) ^ in[4 * (p2) + 3]; \
    } while (0)

/* out[j] = RC[i] XOR in[p2], for the j with p1[j] = 11. */
#define CONSTANT_LANE(j, p2)                         \
    do {                                             \
        out[4 * (j)] = rc[0] ^ in[4 * (p2)];         \
        out[4 * (j) + 1] = rc[1] ^ in[4 * (p2) + 1]; \
        out[4 * (j) + 2] = rc[2] ^ in[4 * (p2) + 2]; \
        out[4 * (j) + 3] = rc[3] ^ in[4 * (p2) + 3]; \
    } while (0)

int CryptHash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits,
              unsigned char *digest);

/* One round; a line is j, p1[j], p2[j]. */
static void paff_round(uint32_t *restrict out, const uint32_t *restrict in,
                       const uint32_t *restrict rc)
{
    AES_LANE(0, 19, 1);
    AES_LANE(1, 4, 0);
    AES_LANE(2, 6, 3);
    AES_LANE(3, 17, 4);
    AES_LANE(4, 9, 5);
    AES_LANE(5, 0, 2);
    AES_LANE(6, 13, 7);
    CONSTANT_LANE(7, 8);
    AES_LANE(8, 8, 9);
    AES_LANE(9, 5, 10);
    AES_LANE(10, 15, 6);
    AES_LANE(11, 10, 12);
    AES_LANE(12, 16, 13);
    AES_LANE(13, 3, 14);
    AES_LANE(14, 12, 15);
    AES_LANE(15, 14, 16);
    AES_LANE(16, 18, 17);
    AES_LANE(17, 7, 18);
    AES_LANE(18, 2, 19);
    AES_LANE(19, 1, 11);
}

static void paff(uint32_t s[STATE_WORDS])
{
    uint32_t t[STATE_WORDS];
    int i;

    for (i = 0; i < ROUNDS; i += 2) {
        paff_round(t, s, RC[i]);
        paff_round(s, t, RC[i + 1]);
    }
}

/* XOR one block, at any address, into the rate; then Paff. */
static void absorb(uint32_t s[STATE_WORDS], const unsigned char *block)
{
    int i;

    for (i = 0; i < RATE_WORDS; i++) {
        s[i] ^= WORD(block[4 * i], block[4 * i + 1], block[4 * i + 2], block[4 * i + 3]);
    }
    paff(s);
}

/*
 * Absorb the last `bits` bits of a message (0 to RATE_BITS - 1) and the padding:
 * a 1 bit after them, which also replaces the unused low bits of a partial last
 * byte, and a 1 bit that ends a block. If only one bit is left for the two, the
 * second goes to the end of a block of its own.
 */
static void absorb_tail(uint32_t s[STATE_WORDS], const unsigned char *tail, unsigned bits)
{
    unsigned char block[RATE_BYTES] = {0};
    size_t bytes = bits / 8;
    unsigned first_one = 0x80u >> bits % 8;

    if (bytes > 0) {
        memcpy(block, tail, bytes);
    }
    if (bits % 8 != 0) {
        block[bytes] = tail[bytes];
    }
    block[bytes] = (unsigned char)((block[bytes] & ~(2 * first_one - 1)) | first_one);
    if (bits == RATE_BITS - 1) {
        absorb(s, block);
        memset(block, 0, sizeof block);
    }
    block[RATE_BYTES - 1] |= 1;
    absorb(s, block);
}

/*
 * Hash msg_len_bits bits, bit 0 being the most significant of msg[0], to
 * PAVELOR_DIGEST_BITS / 8 bytes at digest. msg may be NULL if the length is 0.
 * Returns 0, or 1 with digest untouched if an argument is wrong.
 */
int CryptHash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits,
              unsigned char *digest)
{
    uint32_t s[STATE_WORDS] = {0};
    unsigned long long left = msg_len_bits;
    int i;

    if (digest_len_bits != PAVELOR_DIGEST_BITS || digest == NULL ||
        (msg == NULL && msg_len_bits != 0)) {
        return 1;
    }

    /* S[0] to S[3]; the integers fit the last word of a subblock. */
    s[3] = RATE_BITS;
    s[7] = STATE_BITS - RATE_BITS;
    s[11] = STATE_BITS;
    s[15] = PAVELOR_DIGEST_BITS;

    while (left >= RATE_BITS) {
        absorb(s, msg);
        msg += RATE_BYTES;
        left -= RATE_BITS;
    }
    absorb_tail(s, msg, (unsigned)left);

    for (i = 0; i < DIGEST_WORDS; i++) {
        if (i != 0 && i % RATE_WORDS == 0) {
            paff(s); /* only Pavelor-1024: its digest is two output blocks */
        }
        digest[4 * i] = (unsigned char)(s[i % RATE_WORDS] >> 24);
        digest[4 * i + 1] = (unsigned char)(s[i % RATE_WORDS] >> 16);
        digest[4 * i + 2] = (unsigned char)(s[i % RATE_WORDS] >> 8);
        digest[4 * i + 3] = (unsigned char)s[i % RATE_WORDS];
    }
    return 0;
}
