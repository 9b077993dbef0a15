/* SPDX-License-Identifier: MIT */

#include "busy.h"

/* About 2.5 us at 3 GHz and 4 operations a cycle. */
#define ROUNDS 750
/* A step of the counter is then at most half a percent of a probe. */
#define LEAST_TICKS 200

/*
 * Eight chains that do not wait for each other: two multiplications and 24
 * additions, exclusive ors and rotations a round, more than the ports take at
 * once. No memory: only the threads of this core can slow it.
 */
static void work(uint64_t rounds)
{
    uint64_t a = rounds, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i;

    for (i = 0; i < rounds; i++) {
        a = (a ^ i) * 0x9e3779b97f4a7c15u;
        b = (b ^ i) * 0x9e3779b97f4a7c15u;
        c = ((c + i) << 9 | (c + i) >> 55) ^ i;
        d = ((d + i) << 17 | (d + i) >> 47) ^ i;
        e = ((e ^ i) << 25 | (e ^ i) >> 39) + i;
        f = ((f ^ i) << 33 | (f ^ i) >> 31) + i;
        g = ((g + i) << 41 | (g + i) >> 23) ^ i;
        h = ((h ^ i) << 49 | (h ^ i) >> 15) + i;
        /* Keeps the chains in general registers, and apart. */
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
    }
}

uint64_t busy_probe(const struct counter *c, uint64_t rounds)
{
    struct reading start, stop;

    counter_read(c, &start);
    work(rounds);
    counter_read(c, &stop);
    counter_check(c, &start, &stop);
    return stop.ticks - start.ticks;
}

uint64_t busy_rounds(const struct counter *c)
{
    uint64_t rounds = ROUNDS;

    /* The second of two, since the first warms up. */
    while (rounds < (uint64_t)ROUNDS << 10) {
        busy_probe(c, rounds);
        if (busy_probe(c, rounds) >= LEAST_TICKS) {
            break;
        }
        rounds *= 2;
    }
    return rounds;
}
