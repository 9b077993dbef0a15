/* SPDX-License-Identifier: MIT */

#define _GNU_SOURCE
#include "perf_group.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Tests set PERF_TYPE_SOFTWARE and its events, to run this where there is no PMU. */
#ifndef NGCC_PERF_TYPE
#define NGCC_PERF_TYPE PERF_TYPE_HARDWARE
#define NGCC_PERF_FIRST PERF_COUNT_HW_CPU_CYCLES
#define NGCC_PERF_SECOND PERF_COUNT_HW_INSTRUCTIONS
#endif
#ifndef NGCC_PERF_THIRD
#define NGCC_PERF_THIRD PERF_COUNT_HW_BRANCH_MISSES
#endif

/* attr.config1 on AArch64 (kernel, Documentation/arch/arm64/perf.rst). */
#define ARM_LONG 1u /* 64 bits; before PMUv3p5 only the cycle counter has them */
#define ARM_USER 2u /* for reading in user space */

static const uint64_t configs[EVENTS] = {NGCC_PERF_FIRST, NGCC_PERF_SECOND, NGCC_PERF_THIRD};

static int open_once(const struct shape *s, enum event e, int leader, unsigned config1)
{
    struct perf_event_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = NGCC_PERF_TYPE;
    attr.config = configs[e];
    if (attr.type == PERF_TYPE_HARDWARE) {
        attr.config |= (uint64_t)s->pmu << 32; /* PERF_PMU_TYPE_SHIFT, since Linux 5.13 */
    }
    attr.config1 = config1;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    attr.pinned = leader < 0; /* on the PMU always, or in an error state that read shows */
    attr.read_format =
        PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return (int)syscall(SYS_perf_event_open, &attr, 0, s->cpu, leader, PERF_FLAG_FD_CLOEXEC);
}

static int open_event(const struct shape *s, enum event e, int leader)
{
    unsigned user = 0;
    int fd;

#if defined(__aarch64__)
    user = s->user && NGCC_PERF_TYPE == PERF_TYPE_HARDWARE ? ARM_USER : 0;
#endif
    fd = open_once(s, e, leader, user != 0 ? user | ARM_LONG : 0);
    if (fd < 0 && user != 0) {
        fd = open_once(s, e, leader, user);
    }
    return fd;
}

int group_lead(struct group *g, const struct pmu *pmu, int cpu, int user)
{
    uint32_t type = pmu->units > 1 ? pmu->type : 0;
    int i, error = 0;

    for (i = 0; i < 4; i++) {
        struct shape s = {i < 2 ? cpu : -1, user, i % 2 == 0 ? type : 0};
        if ((i % 2 == 1 && type == 0) || (i >= 2 && (cpu < 0 || !user))) {
            continue;
        }
        g->fd[CYCLES] = open_event(&s, CYCLES, -1);
        if (g->fd[CYCLES] >= 0) {
            g->shape = s;
            return 0;
        }
        error = errno;
        if (error == EACCES || error == EPERM || error == ENOSYS) {
            break;
        }
    }
    return error;
}

int group_add(struct group *g, enum event e)
{
    g->fd[e] = open_event(&g->shape, e, g->fd[CYCLES]);
    return g->fd[e] >= 0 ? 0 : errno;
}

void group_close(struct group *g)
{
    int e;

    for (e = EVENTS - 1; e >= 0; e--) {
        if (g->page[e] != NULL) {
            munmap(g->page[e], (size_t)sysconf(_SC_PAGESIZE));
        }
        if (g->fd[e] >= 0) {
            close(g->fd[e]);
        }
    }
}

int group_map(struct group *g)
{
    int e;

    for (e = 0; e < EVENTS; e++) {
        if (g->fd[e] >= 0) {
            void *p = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, g->fd[e], 0);
            if (p == MAP_FAILED) {
                return 0;
            }
            g->page[e] = p;
        }
    }
    return 1;
}
