/* SPDX-License-Identifier: MIT */

#define _GNU_SOURCE
#include "steady.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "busy.h"
#include "counter.h"
#include "output.h"
#include "reply.h"

#define WINDOWS 21
#define WINDOW_NS 50000000u
/* Probes a window: 0.5 us each and more; what a window has beyond that is not kept. */
#define ROOM 100000u
/* The quiet level and what is within it, in percent, as in internal/stats/quiet.go. */
#define LEVEL_PERCENT 10
#define QUIET_PERCENT 3
/* A gap: this, and three more of the shortest step, longer than the shortest step.
 * A busy sibling thread does not slow a step that much, an interrupt takes less. */
#define GAP_NS 10000u

struct window {
    uint64_t ns, ticks;
    uint32_t *probes; /* ticks each */
    uint32_t count, quiet, level;
    uint64_t step_ns; /* the longest between two looks at the clock */
    uint64_t lost_ns; /* beyond the shortest step, in gaps */
    uint64_t gaps;
};

struct steady {
    struct counter counter;
    int cpu;
    uint64_t rounds, least_ns;
    struct window windows[WINDOWS];
    uint32_t *sorted;
    uint64_t probes, quiet;
    uint32_t level, busy; /* busy: median of the others; 0: there are none */
    uint64_t switches, cpu_ns;
};

struct moment {
    uint64_t ns, ticks;
};

static void *allocate(size_t size)
{
    void *p = malloc(size);

    if (p == NULL) {
        reply_fail_text(ST_DRIVER, "no memory for the probes");
    }
    memset(p, 0xa5, size); /* no page is missing when it is used */
    return p;
}

/* Clock and counter at one time: the closest of several pairs, since this process
 * may be held between the two. */
static struct moment now(const struct counter *c)
{
    struct moment best = {0, 0};
    uint64_t width = UINT64_MAX;
    int i;

    for (i = 0; i < 5; i++) {
        struct reading r;
        uint64_t before = clock_ns(), after;
        counter_read(c, &r);
        after = clock_ns();
        if (after - before < width) {
            width = after - before;
            best.ns = before + width / 2;
            best.ticks = r.ticks;
        }
    }
    return best;
}

static uint64_t nanoseconds(const struct timeval *t)
{
    return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_usec * 1000u;
}

static uint64_t switches(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (uint64_t)u.ru_nivcsw;
}

/* Steps until the window's time is over. The time from its last look at the clock
 * to the next window's first belongs to neither. */
static void fill(const struct steady *s, struct window *w)
{
    struct moment from = now(&s->counter), to;
    uint64_t gap_ns = 4 * s->least_ns + GAP_NS, last = clock_ns(), end = last + WINDOW_NS;

    do {
        uint64_t ticks = busy_probe(&s->counter, s->rounds), t = clock_ns(), step = t - last;
        if (w->count < ROOM) {
            w->probes[w->count++] = ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
        }
        w->step_ns = step > w->step_ns ? step : w->step_ns;
        if (step > gap_ns) {
            w->gaps++;
            w->lost_ns += step - s->least_ns;
        }
        last = t;
    } while (last < end);
    to = now(&s->counter);
    w->ns = to.ns - from.ns;
    w->ticks = to.ticks - from.ticks;
}

/* The shortest step of some; long enough that the clock leaves its idle state. */
static uint64_t least_step(const struct steady *s)
{
    uint64_t start = clock_ns(), last = start, least = UINT64_MAX;

    do {
        uint64_t t;
        busy_probe(&s->counter, s->rounds);
        t = clock_ns();
        least = t - last < least ? t - last : least;
        last = t;
    } while (last - start < 10000000);
    return least;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static int is_quiet(const struct steady *s, uint32_t ticks)
{
    return 100 * (uint64_t)ticks <= (100 + QUIET_PERCENT) * (uint64_t)s->level;
}

static void judge(struct steady *s)
{
    uint64_t at = 0;
    uint32_t i;
    int w;

    for (w = 0; w < WINDOWS; w++) {
        struct window *v = &s->windows[w];
        qsort(v->probes, v->count, sizeof *v->probes, compare);
        v->level = v->probes[(uint64_t)(v->count - 1) * LEVEL_PERCENT / 100];
        memcpy(s->sorted + s->probes, v->probes, v->count * sizeof *v->probes);
        s->probes += v->count;
    }
    qsort(s->sorted, s->probes, sizeof *s->sorted, compare);
    s->level = s->sorted[(s->probes - 1) * LEVEL_PERCENT / 100];
    for (w = 0; w < WINDOWS; w++) {
        for (i = 0; i < s->windows[w].count && is_quiet(s, s->windows[w].probes[i]); i++) {
            s->windows[w].quiet++;
        }
        at += s->windows[w].quiet;
    }
    s->quiet = at;
    s->busy = at < s->probes ? s->sorted[at + (s->probes - at) / 2] : 0;
}

static void print(struct steady *s)
{
    struct rusage u;
    FILE *out = output_open();
    int w;

    getrusage(RUSAGE_SELF, &u); /* all that this process did, for who looks from outside */
    fprintf(out, "ngcc-steady 1\ncounter %s\nnote %s\ncpu %d\n", s->counter.name,
            s->counter.note.s, s->cpu);
    fprintf(out, "probe-rounds %" PRIu64 "\nlevel-ticks %" PRIu32 "\nbusy-ticks %" PRIu32 "\n",
            s->rounds, s->level, s->busy);
    fprintf(out, "switches %" PRIu64 "\ncpu-ns %" PRIu64 "\n", s->switches,
            nanoseconds(&u.ru_utime) + nanoseconds(&u.ru_stime));
    fprintf(out, "windows %d\n", WINDOWS);
    for (w = 0; w < WINDOWS; w++) {
        const struct window *v = &s->windows[w];
        fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIu32, v->ns, v->ticks,
                v->count, v->quiet, v->level);
        fprintf(out, " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", v->step_ns, v->lost_ns, v->gaps);
    }
    output_end(out);
}

void steady(const struct time_options *o)
{
    static struct steady s;
    int w;

    s.cpu = sched_getcpu();
    if (o->cpu >= 0 && s.cpu != o->cpu) {
        reply_fail_text(ST_DRIVER, "this process is not on the CPU that it was given");
    }
    counter_open(&s.counter, o->counter, o->cpu);
    for (w = 0; w < WINDOWS; w++) {
        s.windows[w].probes = allocate(ROOM * sizeof *s.windows[w].probes);
    }
    s.sorted = allocate((size_t)WINDOWS * ROOM * sizeof *s.sorted);
    s.rounds = busy_rounds(&s.counter);
    s.least_ns = least_step(&s);
    s.switches = switches();
    for (w = 0; w < WINDOWS; w++) {
        fill(&s, &s.windows[w]);
    }
    s.switches = switches() - s.switches;
    judge(&s);
    print(&s);
    _exit(0);
}
