/* SPDX-License-Identifier: MIT */

/* page_read on made-up pages. Prints what is wrong; nothing when all is right. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pmu_user.h"

static struct perf_event_mmap_page page;
static uint64_t raw; /* of the counter */
static uint32_t asked;
static int calls, changes; /* changes: during so many of the next readings */

static int reader(uint32_t n, uint64_t *value)
{
    calls++;
    asked = n;
    *value = raw;
    if (changes > 0) {
        changes--;
        page.lock += 2;
        page.offset += 1000;
        page.index = 7;
    }
    return n != 99;
}

static void reset(uint32_t index, int64_t offset, unsigned width, uint64_t value)
{
    memset(&page, 0, sizeof page);
    page.lock = 4;
    page.index = index;
    page.offset = offset;
    page.pmc_width = (uint16_t)width;
    page.cap_user_rdpmc = 1;
    page.time_enabled = 50;
    page.time_running = 40;
    raw = value;
    calls = changes = 0;
}

static void expect(const char *what, enum page_state state, uint64_t count)
{
    struct page_value v = {0, 0, 0};
    enum page_state got = page_read(&page, reader, &v);

    if (got != state || (state == PAGE_OK && v.count != count)) {
        printf("%s: state %d, count %" PRIu64 "; want %d, %" PRIu64 "\n", what, got, v.count,
               state, count);
    }
    if (v.enabled != 50 || v.running != 40) {
        printf("%s: times %" PRIu64 ", %" PRIu64 "\n", what, v.enabled, v.running);
    }
}

static void check_signs(void)
{
    static const struct {
        uint64_t v;
        unsigned width;
        int64_t want;
    } cases[] = {
        {0xffffffffffff, 48, -1},
        {0x7fffffffffff, 48, 0x7fffffffffff},
        {0x800000000000, 48, -0x800000000000},
        {0xabcd000000000005, 48, 5}, /* what is above the width does not matter */
        {0x8000000000, 40, -0x8000000000},
        {0x12345678ffffffff, 32, -1},
        {0x7fffffff, 32, 0x7fffffff},
        {0xfffffffffffffffe, 64, -2},
        {1, 1, -1},
        {0, 1, 0},
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t got = (int64_t)sign_extend(cases[i].v, cases[i].width);
        if (got != cases[i].want) {
            printf("sign_extend(%#" PRIx64 ", %u) is %" PRId64 "\n", cases[i].v, cases[i].width,
                   got);
        }
    }
}

/* As x86 does: the counter starts at -period, prev_count with it, and the page's
 * offset is the count so far less prev_count. The count grows through zero. */
static void check_wrap(void)
{
    const uint64_t period = 0x7fffffff, mask = ((uint64_t)1 << 48) - 1;
    uint64_t i;

    for (i = 0; i < 6; i++) {
        uint64_t counted = i * (period / 3);
        reset(3, (int64_t)(1000 + period), 48, (0 - period + counted) & mask);
        expect("a counter that starts below zero", PAGE_OK, 1000 + counted);
    }
}

int main(void)
{
    check_signs();
    check_wrap();
    reset(1, 100, 48, 23);
    expect("plain", PAGE_OK, 123);
    if (asked != 0) {
        printf("index 1 reads counter %u\n", asked);
    }
    reset((1u << 30) + 2, 100, 48, 23);
    expect("fixed counter", PAGE_OK, 123);
    if (asked != (1u << 30) + 1) {
        printf("a fixed counter's index reads counter %u\n", asked);
    }
    reset(1, -100, 48, 99);
    expect("negative offset", PAGE_OK, (uint64_t)-1);
    reset(1, 100, 48, 23);
    changes = 2;
    expect("changed twice", PAGE_OK, 2123);
    if (calls != 3 || asked != 6) {
        printf("changed twice: %d readings, the last of counter %u\n", calls, asked);
    }
    reset(1, 100, 48, 23);
    changes = 2 * PAGE_TRIES;
    expect("always changing", PAGE_CHANGING, 0);
    if (calls != PAGE_TRIES) {
        printf("always changing: %d readings\n", calls);
    }
    reset(0, 100, 48, 23);
    expect("no counter", PAGE_IDLE, 0);
    reset(1, 100, 48, 23);
    page.cap_user_rdpmc = 0;
    expect("not allowed", PAGE_REFUSED, 0);
    if (calls != 0) {
        printf("a counter that may not be read was read\n");
    }
    reset(1, 100, 0, 23);
    expect("no width", PAGE_STRANGE, 0);
    reset(1, 100, 65, 23);
    expect("width 65", PAGE_STRANGE, 0);
    reset(100, 100, 48, 23);
    expect("unknown counter", PAGE_STRANGE, 0);
    return 0;
}
