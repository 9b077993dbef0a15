/* SPDX-License-Identifier: MIT */

/*
 * A perf event read without a system call, by the rule in struct
 * perf_event_mmap_page (linux/perf_event.h). In a header, so that a reading in
 * the timed path is not a call, and tests can feed made-up pages.
 */

#ifndef NGCC_PMU_USER_H
#define NGCC_PMU_USER_H

#include <linux/perf_event.h>
#include <stdint.h>

/* A reading is taken anew when the kernel changed the page meanwhile, so often at most. */
#define PAGE_TRIES 1000

enum page_state {
    PAGE_OK,
    PAGE_REFUSED, /* the kernel does not let this process read the counter */
    PAGE_IDLE,    /* the event is on no counter now that this process may read */
    PAGE_STRANGE, /* a width or a counter that no architecture has */
    PAGE_CHANGING /* changed during each try */
};

struct page_value {
    uint64_t count, enabled, running; /* the last two in nanoseconds, as of the page's last change */
};

/* Reads counter n as the instruction does; 0 when there is no such counter. */
typedef int pmc_reader(uint32_t n, uint64_t *value);

/* The low width bits (1 to 64) of v, as a signed number. */
static inline uint64_t sign_extend(uint64_t v, unsigned width)
{
    uint64_t sign = (uint64_t)1 << (width - 1);

    return ((v & (sign | (sign - 1))) ^ sign) - sign;
}

/*
 * Compiler barriers are enough: the kernel changes the page on this CPU, and an
 * interrupt between two instructions discards what was read ahead.
 */
static inline enum page_state page_read(const volatile struct perf_event_mmap_page *page,
                                        pmc_reader *pmc, struct page_value *v)
{
    int i;

    for (i = 0; i < PAGE_TRIES; i++) {
        enum page_state state = PAGE_OK;
        uint32_t lock = page->lock, index;
        uint64_t raw = 0, offset;
        unsigned width;

        __asm__ volatile("" : : : "memory");
        v->enabled = page->time_enabled;
        v->running = page->time_running;
        index = page->index;
        offset = (uint64_t)page->offset;
        width = page->pmc_width;
        if (!page->cap_user_rdpmc) {
            state = PAGE_REFUSED;
        } else if (index == 0) {
            state = PAGE_IDLE;
        } else if (width < 1 || width > 64 || !pmc(index - 1, &raw)) {
            state = PAGE_STRANGE;
        } else {
            v->count = offset + sign_extend(raw, width);
        }
        __asm__ volatile("" : : : "memory");
        if (page->lock == lock) {
            return state;
        }
    }
    return PAGE_CHANGING;
}

#if defined(__x86_64__)

#define PMC_NAME "rdpmc"

/* RDPMC waits for nothing, and nothing for it (Intel SDM, RDPMC): LFENCE on both sides. */
static inline void pmc_fence(void)
{
    __asm__ volatile("lfence" : : : "memory");
}

static inline int pmc_read(uint32_t n, uint64_t *value)
{
    uint32_t low, high;

    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(n));
    *value = (uint64_t)high << 32 | low;
    return 1;
}

#elif defined(__aarch64__)

#define PMC_NAME "mrs"

/* The counters may be read ahead of their turn (Arm ARM, D13.1). */
static inline void pmc_fence(void)
{
    __asm__ volatile("isb" : : : "memory");
}

#define PMC(n)                                                       \
    case n:                                                          \
        __asm__ volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(*value)); \
        return 1;

/* The register's number is part of the instruction; 31 is the cycle counter
 * (kernel, drivers/perf/arm_pmuv3.c: armv8pmu_user_event_idx). */
static inline int pmc_read(uint32_t n, uint64_t *value)
{
    /* Alone on the fast path. */
    if (n == 31) {
        __asm__ volatile("mrs %0, pmccntr_el0" : "=r"(*value));
        return 1;
    }
    switch (n) {
        PMC(0) PMC(1) PMC(2) PMC(3) PMC(4) PMC(5) PMC(6) PMC(7)
        PMC(8) PMC(9) PMC(10) PMC(11) PMC(12) PMC(13) PMC(14) PMC(15)
        PMC(16) PMC(17) PMC(18) PMC(19) PMC(20) PMC(21) PMC(22) PMC(23)
        PMC(24) PMC(25) PMC(26) PMC(27) PMC(28) PMC(29) PMC(30)
    default:
        return 0;
    }
}

#undef PMC

#endif

#endif
