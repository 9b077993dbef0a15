/* SPDX-License-Identifier: MIT */

#define _GNU_SOURCE
#include "perf.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "perf_group.h"
#include "perf_why.h"
#include "pmu_user.h"

static const char *const event_names[EVENTS] = {"cycles", "instructions", "branch misses"};

static void adopt(struct counter *c, const struct group *g)
{
    int e;

    c->perf_fd = g->fd[CYCLES];
    c->has_instructions = g->fd[INSTRUCTIONS] >= 0;
    c->has_branch_misses = g->fd[BRANCH_MISSES] >= 0;
    for (e = 0; e < EVENTS; e++) {
        c->page[e] = g->page[e];
    }
    c->how = g->page[CYCLES] != NULL ? PMC_NAME : "read";
}

/* By system call: 1 when all was read; 0 when the kernel gave up the group, or errno. */
static int read_group(const struct counter *c, struct reading *r)
{
    uint64_t data[3 + EVENTS]; /* events, time enabled, time running, a count each */
    size_t n = 4 + (c->has_instructions != 0) + (c->has_branch_misses != 0), i = 4;
    ssize_t size;

    do {
        size = read(c->perf_fd, data, n * sizeof data[0]);
    } while (size < 0 && errno == EINTR);
    if (size != (ssize_t)(n * sizeof data[0])) {
        return 0;
    }
    r->enabled = data[1];
    r->running = data[2];
    r->ticks = data[3];
    r->instructions = c->has_instructions ? data[i++] : 0;
    r->branch_misses = c->has_branch_misses ? data[i] : 0;
    return 1;
}

/* In user space, the cycles last: as near as can be to what is timed. */
static inline enum page_state read_pages(const struct counter *c, struct reading *r)
{
    struct page_value v = {0, 0, 0};
    enum page_state state = PAGE_OK;

    pmc_fence();
    if (c->has_branch_misses) {
        state = page_read(c->page[BRANCH_MISSES], pmc_read, &v);
    }
    r->branch_misses = v.count;
    v.count = 0;
    if (state == PAGE_OK && c->has_instructions) {
        state = page_read(c->page[INSTRUCTIONS], pmc_read, &v);
    }
    r->instructions = v.count;
    if (state == PAGE_OK) {
        state = page_read(c->page[CYCLES], pmc_read, &v);
    }
    pmc_fence();
    r->ticks = v.count;
    r->enabled = v.enabled;
    r->running = v.running;
    return state;
}

void perf_read(const struct counter *c, struct reading *r)
{
    enum page_state state = PAGE_OK;
    struct text why = {{0}, 0};

    if (c->page[CYCLES] != NULL) {
        state = read_pages(c, r);
        if (state == PAGE_OK) {
            return;
        }
    } else if (read_group(c, r)) {
        return;
    }
    if (state == PAGE_OK || state == PAGE_IDLE) {
        why_no_room(&why, 0, 0);
    } else {
        text_add(&why, "core-cycles: ");
        why_page(&why, state, &c->pmu);
    }
    reply_fail(ST_COUNTER, &why);
}

/* EVENTS when all is well, else the event to leave out, and why. */
static enum event find_fault(const struct counter *c, const struct reading *a,
                             const struct reading *b, struct text *why)
{
    uint64_t enabled = b->enabled - a->enabled, running = b->running - a->running;

    if (running != enabled && (b->ticks > a->ticks || c->pmu.units <= 1)) {
        why_no_room(why, running, enabled);
    } else if (b->ticks <= a->ticks) {
        why_nothing(why, &c->pmu);
    } else if (c->has_instructions && b->instructions <= a->instructions) {
        why_nothing(why, &c->pmu);
        return INSTRUCTIONS;
    } else if (c->has_branch_misses && b->branch_misses < a->branch_misses) {
        text_add(why, "core-cycles: the counter of branch misses ran backwards");
    } else {
        return EVENTS;
    }
    return c->has_branch_misses ? BRANCH_MISSES : c->has_instructions ? INSTRUCTIONS : CYCLES;
}

int perf_valid(const struct counter *c, const struct reading *a, const struct reading *b,
               struct text *why)
{
    return find_fault(c, a, b, why) == EVENTS;
}

static sigjmp_buf fault;

static void on_fault(int signal)
{
    siglongjmp(fault, signal);
}

/* The first reading in user space: a hypervisor may forbid what the kernel allows. */
static int try_pages(const struct counter *c, struct reading *r, struct text *why)
{
    struct sigaction act, segv, ill;
    volatile enum page_state state = PAGE_OK;
    int faulted;

    memset(&act, 0, sizeof act);
    act.sa_handler = on_fault;
    sigaction(SIGSEGV, &act, &segv);
    sigaction(SIGILL, &act, &ill);
    faulted = sigsetjmp(fault, 1);
    if (faulted == 0) {
        state = read_pages(c, r);
    }
    sigaction(SIGSEGV, &segv, NULL);
    sigaction(SIGILL, &ill, NULL);
    if (faulted != 0) {
        text_add(why, PMC_NAME ": the instruction is not allowed here: ");
        text_add(why, strsignal(faulted));
        return 0;
    }
    if (state != PAGE_OK) {
        why_page(why, state, &c->pmu);
    }
    return state == PAGE_OK;
}

/*
 * Counts a little work. EVENTS when the figures can be right, else the event to
 * leave out, and why. What is read in user space must lie between two readings
 * by system call.
 */
static enum event try_group(const struct counter *c, struct text *why)
{
    enum event last = c->has_branch_misses  ? BRANCH_MISSES
                      : c->has_instructions ? INSTRUCTIONS
                                            : CYCLES;
    struct reading a, b, user = {0, 0, 0, 0, 0};
    volatile unsigned i;

    if (!read_group(c, &a)) {
        why_no_room(why, 0, 0);
        return last;
    }
    for (i = 0; i < 10000; i++) {
    }
    if (c->page[CYCLES] != NULL && !try_pages(c, &user, why)) {
        return CYCLES;
    }
    if (!read_group(c, &b)) {
        why_no_room(why, 0, 0);
        return last;
    }
    if (c->page[CYCLES] != NULL &&
        (user.ticks <= a.ticks || user.ticks >= b.ticks || user.instructions < a.instructions ||
         user.instructions > b.instructions || user.branch_misses < a.branch_misses ||
         user.branch_misses > b.branch_misses)) {
        text_add(why, PMC_NAME ": it does not agree with what the kernel reads");
        return CYCLES;
    }
    return find_fault(c, &a, &b, why);
}

/*
 * Opens the largest group that works. Returns 0 with the reason in why; left has
 * the reason for each event that had to be left out.
 */
static int open_group(struct counter *c, int cpu, int user, struct text *why, struct text *left)
{
    int wanted[EVENTS] = {1, 1, 1};

    for (;;) {
        struct group g = {{-1, 0, 0}, {-1, -1, -1}, {NULL, NULL, NULL}};
        struct text reason = {{0}, 0};
        int e, error = group_lead(&g, &c->pmu, cpu, user);
        enum event fault_in;

        if (error != 0) {
            if (user) {
                why_no_user(why, "perf_event_open", error);
            } else {
                why_refused(why, error, &c->pmu);
            }
            return 0;
        }
        for (e = INSTRUCTIONS; e < EVENTS; e++) {
            if (wanted[e] && (error = group_add(&g, (enum event)e)) != 0) {
                text_add(&left[e], strerror(error));
                wanted[e] = 0;
            }
        }
        if (user && !group_map(&g)) {
            why_no_user(why, "mmap", errno);
            group_close(&g);
            return 0;
        }
        adopt(c, &g);
        fault_in = try_group(c, &reason);
        if (fault_in == EVENTS) {
            return 1;
        }
        group_close(&g);
        /* A group needs room for all: try with one event less, in fresh ones. */
        text_add(fault_in == CYCLES ? why : &left[fault_in], reason.s);
        if (fault_in == CYCLES) {
            return 0;
        }
        wanted[fault_in] = 0;
    }
}

int perf_open(struct counter *c, int cpu, struct text *why)
{
    int user, e;
    struct text passed = {{0}, 0};

    pmu_find(&c->pmu, cpu >= 0 ? cpu : sched_getcpu());
    for (user = 1; user >= 0; user--) {
        struct text left[EVENTS] = {{{0}, 0}, {{0}, 0}, {{0}, 0}};
        if (!open_group(c, cpu, user, user ? &passed : why, left)) {
            continue;
        }
        for (e = INSTRUCTIONS; e < EVENTS; e++) {
            if (left[e].n > 0) {
                text_add(&c->note, event_names[e]);
                text_add(&c->note, " are not counted: ");
                text_add(&c->note, left[e].s);
                text_add(&c->note, "; ");
            }
        }
        text_add(&c->note, "core-cycles by ");
        text_add(&c->note, c->how);
        if (!user) {
            text_add(&c->note, ", since ");
            text_add(&c->note, passed.s);
        }
        return 1;
    }
    c->perf_fd = -1;
    c->has_instructions = c->has_branch_misses = 0;
    memset(c->page, 0, sizeof c->page);
    c->how = NULL;
    return 0;
}
