/* SPDX-License-Identifier: MIT */

#define _GNU_SOURCE
#include "counter.h"

#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "perf.h"

static const char *const names[] = {"core-cycles", "tsc", "cntvct", "clock"};

uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#if defined(__x86_64__)

/*
 * RDTSCP waits until all earlier instructions have been executed, LFENCE keeps
 * later ones from starting before it (Intel SDM, RDTSCP).
 */
static inline uint64_t read_tsc(void)
{
    uint32_t low, high;

    __asm__ volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high) : : "ecx", "memory");
    return (uint64_t)high << 32 | low;
}

static int open_tsc(struct counter *c, struct text *why)
{
    unsigned a, b, cx, d;

    if (!__get_cpuid(0x80000001, &a, &b, &cx, &d) || (d & 1u << 27) == 0) {
        text_add(why, "tsc: this CPU has no rdtscp instruction");
        return 0;
    }
    if (!__get_cpuid(0x80000007, &a, &b, &cx, &d) || (d & 1u << 8) == 0) {
        if (c->note.n > 0) {
            text_add(&c->note, "; ");
        }
        text_add(&c->note, "tsc: the CPU does not promise a constant rate");
    }
    return 1;
}

static int open_cntvct(struct text *why)
{
    text_add(why, "cntvct: only AArch64 has it");
    return 0;
}

static inline uint64_t read_cntvct(void)
{
    return 0;
}

#elif defined(__aarch64__)

static inline uint64_t read_cntvct(void)
{
    uint64_t v;

    /* CNTVCT_EL0 may be read ahead of its turn (Arm ARM, D12.1): fence both sides. */
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(v) : : "memory");
    return v;
}

static int open_cntvct(struct text *why)
{
    uint64_t rate;

    __asm__("mrs %0, cntfrq_el0" : "=r"(rate));
    if (rate == 0) {
        text_add(why, "cntvct: the firmware gives its rate as 0");
        return 0;
    }
    return 1;
}

static int open_tsc(struct counter *c, struct text *why)
{
    (void)c;
    text_add(why, "tsc: only x86 has it");
    return 0;
}

static inline uint64_t read_tsc(void)
{
    return 0;
}

#else
#error "the driver knows x86-64 and AArch64 only"
#endif

static int open_kind(struct counter *c, enum counter_kind kind, int cpu, struct text *why)
{
    switch (kind) {
    case COUNTER_CORE_CYCLES:
        return perf_open(c, cpu, why);
    case COUNTER_TSC:
        return open_tsc(c, why);
    case COUNTER_CNTVCT:
        return open_cntvct(why);
    case COUNTER_CLOCK:
        return 1;
    }
    return 0;
}

/* The other architecture's counter is no better counter that is missing here. */
static int is_foreign(enum counter_kind kind)
{
#if defined(__x86_64__)
    return kind == COUNTER_CNTVCT;
#else
    return kind == COUNTER_TSC;
#endif
}

void counter_open(struct counter *c, const char *wanted, int cpu)
{
    int kind, automatic = strcmp(wanted, "auto") == 0;

    memset(c, 0, sizeof *c);
    c->perf_fd = -1;
    for (kind = COUNTER_CORE_CYCLES; kind <= COUNTER_CLOCK; kind++) {
        struct text why = {{0}, 0};
        if (automatic ? is_foreign((enum counter_kind)kind) : strcmp(wanted, names[kind]) != 0) {
            continue;
        }
        if (open_kind(c, (enum counter_kind)kind, cpu, &why)) {
            c->kind = (enum counter_kind)kind;
            c->name = names[kind];
            return;
        }
        if (!automatic) {
            reply_fail(ST_COUNTER, &why);
        }
        if (c->note.n > 0) {
            text_add(&c->note, "; ");
        }
        text_add(&c->note, why.s);
    }
    reply_fail_text(ST_COUNTER, "there is no counter of that name: use auto, core-cycles, tsc, "
                                "cntvct or clock");
}

void counter_read(const struct counter *c, struct reading *r)
{
    switch (c->kind) {
    case COUNTER_CORE_CYCLES:
        perf_read(c, r);
        return;
    case COUNTER_TSC:
        r->ticks = read_tsc();
        break;
    case COUNTER_CNTVCT:
        r->ticks = read_cntvct();
        break;
    case COUNTER_CLOCK:
        r->ticks = clock_ns();
        break;
    }
    r->instructions = r->enabled = r->running = r->branch_misses = 0;
}

void counter_check(const struct counter *c, const struct reading *a, const struct reading *b)
{
    struct text t = {{0}, 0};

    if (b->ticks < a->ticks) {
        text_add(&t, c->name);
        text_add(&t, ": the counter ran backwards");
        reply_fail(ST_COUNTER, &t);
    }
    if (c->kind == COUNTER_CORE_CYCLES && !perf_valid(c, a, b, &t)) {
        reply_fail(ST_COUNTER, &t);
    }
}

double counter_rate(const struct counter *c)
{
    struct reading a, b;
    uint64_t start, stop;

    if (c->kind == COUNTER_CLOCK) {
        return 1e9;
    }
    start = clock_ns();
    counter_read(c, &a);
    do {
        stop = clock_ns();
    } while (stop - start < 10000000);
    counter_read(c, &b);
    stop = clock_ns();
    counter_check(c, &a, &b);
    return (double)(b.ticks - a.ticks) / (double)(stop - start) * 1e9;
}
