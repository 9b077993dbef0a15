/* A core with a table made at the first call, a static round, a recursive
 * function, a call of the C library and stack buffers. EXTRA adds work to the
 * round, DEAD a function before it that never runs. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef DEAD
__attribute__((noinline, used, aligned(64))) int dead(int n)
{
    return n * 1234567 + 89;
}
#endif

static uint64_t table[256];
static int ready;

static __attribute__((noinline, aligned(64))) void make_table(void)
{
    uint64_t i;

    for (i = 0; i < 256; i++) {
        table[i] = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    }
    ready = 1;
}

static __attribute__((noinline, aligned(64))) void toy_round(uint64_t s[4], const unsigned char *m, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        s[i & 3] = (s[i & 3] ^ table[m[i]]) * 31;
#ifdef EXTRA
        s[i & 3] ^= s[i & 3] >> 29;
#endif
    }
}

static __attribute__((noinline, aligned(64))) unsigned deep(unsigned n)
{
    return n < 2 ? n : deep(n - 1) + deep(n - 2);
}

int CryptHash(int bits, const unsigned char *m, unsigned long long n, unsigned char *d)
{
    uint64_t s[4] = {1, 2, 3, 4};
    unsigned char *copy = malloc(n / 8);

    if (copy == NULL) {
        return 1;
    }
    if (!ready) {
        make_table();
    }
    memcpy(copy, m, n / 8);
    toy_round(s, copy, n / 8);
    s[0] += deep(6);
    memcpy(d, s, bits / 8);
    free(copy);
    return 0;
}
