/* SPDX-License-Identifier: MIT */

/*
 * Calls a core as standard input says and prints what came of it; linked with
 * the core's sources under sanitisers, which see every access outside a buffer.
 *
 * A line of input:  DIGEST_BITS MESSAGE_BITS MESSAGE MESSAGE_AT DIGEST_AT
 *
 *   MESSAGE     perf: byte i of n is (131 i + n) mod 256, unused low bits of the
 *               last byte cleared; perf-dirty: the same with them set; hex:DATA;
 *               null: the pointer NULL
 *   MESSAGE_AT  bytes that the message lies after a 16-byte boundary, 0 to 15
 *   DIGEST_AT   the same of the digest, or null
 *
 * Message and digest end exactly where their allocations end. A line of output:
 * "digest HEX"; "refused" if the core returned non-zero and left the digest
 * alone; "fault TEXT" for what a core must not do.
 *
 * -DCRYPTO_HASH chooses that API, else it is CryptHash.
 */

#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILL 0xa5 /* of the digest before the call */

#ifdef CRYPTO_HASH
int crypto_hash(unsigned char *out, const unsigned char *in, unsigned long long inlen);
#else
int CryptHash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits,
              unsigned char *digest);
#endif

static int hash(int digest_bits, const unsigned char *msg, unsigned long long bits,
                unsigned char *digest)
{
#ifdef CRYPTO_HASH
    (void)digest_bits;
    return crypto_hash(digest, msg, bits / 8);
#else
    return CryptHash(digest_bits, msg, bits, digest);
#endif
}

static void die(const char *what)
{
    fprintf(stderr, "harness: %s\n", what);
    exit(2);
}

/* size bytes, `at` bytes after a 16-byte boundary and up to the allocation's end. */
static unsigned char *place(unsigned char **allocation, size_t at, size_t size)
{
    if (size == 0 && at == 0) {
        at = 16; /* malloc(0) may give a byte */
    }
    *allocation = malloc(at + size);
    if (*allocation == NULL || (uintptr_t)*allocation % 16 != 0) {
        die("no memory at a 16-byte boundary");
    }
    memset(*allocation, FILL, at + size);
    return *allocation + at;
}

static void fill_message(unsigned char *msg, size_t n, unsigned long long bits, const char *rule)
{
    unsigned unused = bits % 8 == 0 ? 0 : 0xffU >> bits % 8;
    size_t i;

    if (strncmp(rule, "hex:", 4) == 0) {
        if (strlen(rule) != 4 + 2 * n) {
            die("the message is not as long as its number of bits says");
        }
        for (i = 0; i < n; i++) {
            unsigned byte;

            if (sscanf(rule + 4 + 2 * i, "%2x", &byte) != 1) {
                die("the message is not in hexadecimal");
            }
            msg[i] = (unsigned char)byte;
        }
        return;
    }
    for (i = 0; i < n; i++) {
        msg[i] = (unsigned char)(131 * i + n);
    }
    if (n > 0 && strcmp(rule, "perf") == 0) {
        msg[n - 1] &= (unsigned char)~unused;
    } else if (n > 0 && strcmp(rule, "perf-dirty") == 0) {
        msg[n - 1] |= (unsigned char)unused;
    } else if (n > 0) {
        die("unknown rule");
    }
}

static int filled(const unsigned char *p, size_t n)
{
    while (n > 0 && *p == FILL) {
        p++;
        n--;
    }
    return n == 0;
}

static void report(int status, const unsigned char *allocation, const unsigned char *digest,
                   size_t size)
{
    size_t i;

    if (digest == NULL) {
        puts(status == 0 ? "fault: success without a place for the digest" : "refused");
        return;
    }
    if (!filled(allocation, (size_t)(digest - allocation))) {
        puts("fault: bytes before the digest were written");
    } else if (status != 0) {
        puts(filled(digest, size) ? "refused" : "fault: refused, but the digest was written");
    } else {
        fputs("digest ", stdout);
        for (i = 0; i < size; i++) {
            printf("%02x", digest[i]);
        }
        putchar('\n');
    }
}

static void one(int digest_bits, unsigned long long bits, const char *rule, size_t message_at,
                const char *digest_at)
{
    size_t n = (size_t)((bits + 7) / 8), size = (size_t)(DIGEST_BITS / 8);
    unsigned char *in = NULL, *copy = NULL, *out = NULL, *msg = NULL, *digest = NULL;
    int status;

    if (strcmp(rule, "null") != 0) {
        msg = place(&in, message_at, n);
        fill_message(msg, n, bits, rule);
        copy = malloc(n + 1);
        if (copy == NULL) {
            die("no memory");
        }
        memcpy(copy, msg, n);
    }
    if (strcmp(digest_at, "null") != 0) {
        digest = place(&out, strtoul(digest_at, NULL, 10), size);
    }
    status = hash(digest_bits, msg, bits, digest);
    if (msg != NULL && memcmp(msg, copy, n) != 0) {
        puts("fault: the message was changed");
    } else {
        report(status, out, digest, size);
    }
    free(in);
    free(copy);
    free(out);
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;

    while (getline(&line, &room, stdin) > 0) {
        char *word[5];
        int i;

        for (i = 0; i < 5; i++) {
            word[i] = strtok(i == 0 ? line : NULL, " \n");
            if (word[i] == NULL) {
                die("a line of five words is wanted");
            }
        }
        one(atoi(word[0]), strtoull(word[1], NULL, 10), word[2], strtoul(word[3], NULL, 10), word[4]);
    }
    free(line);
    return ferror(stdin) || fflush(stdout) != 0;
}
