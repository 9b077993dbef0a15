/* SPDX-License-Identifier: MIT */

#define _GNU_SOURCE
#include "perf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Tests set PERF_TYPE_SOFTWARE and its events, to run this where there is no PMU. */
#ifndef NGCC_PERF_TYPE
#define NGCC_PERF_TYPE PERF_TYPE_HARDWARE
#define NGCC_PERF_FIRST PERF_COUNT_HW_CPU_CYCLES
#define NGCC_PERF_SECOND PERF_COUNT_HW_INSTRUCTIONS
#endif

static int open_event(uint64_t config, int cpu, int leader)
{
    struct perf_event_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = NGCC_PERF_TYPE;
    attr.config = config;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    attr.pinned = leader < 0; /* on the PMU always, or in an error state that read shows */
    attr.read_format =
        PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    /* A CPU makes the kernel choose the PMU of that core's type on a hybrid machine. */
    return (int)syscall(SYS_perf_event_open, &attr, 0, cpu, leader, PERF_FLAG_FD_CLOEXEC);
}

/* The value of kernel.perf_event_paranoid as text, without its line end. */
static void add_paranoid(struct text *t)
{
    char value[16];
    ssize_t n = -1;
    int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        n = read(fd, value, sizeof value - 1);
        close(fd);
    }
    while (n > 0 && value[n - 1] == '\n') {
        n--;
    }
    value[n > 0 ? n : 0] = '\0';
    text_add(t, "kernel.perf_event_paranoid is ");
    text_add(t, n > 0 ? value : "not known");
}

static void explain_errno(int error, struct text *why)
{
    text_add(why, "core-cycles: perf_event_open: ");
    text_add(why, strerror(error));
    switch (error) {
    case EACCES:
    case EPERM:
        text_add(why, " (");
        add_paranoid(why);
        text_add(why, "): set it to 2 or less or give CAP_PERFMON, and in a container allow the "
                      "system call in its seccomp profile");
        break;
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
    case ENXIO:
        text_add(why, ": no PMU that counts cycles here, as in a virtual machine without one: "
                      "give the machine a virtual PMU or use real hardware");
        break;
    case ENOSYS:
        text_add(why, ": this kernel, emulator or sandbox lacks the system call: use a kernel "
                      "with CONFIG_PERF_EVENTS");
        break;
    case EBUSY:
        text_add(why, ": another user holds the PMU for itself: end it");
        break;
    case EMFILE:
        text_add(why, ": too many open files: raise the limit");
        break;
    case EINVAL:
    case E2BIG:
        text_add(why, ": the kernel does not know this kind of event: use Linux 4.19 or later");
        break;
    default:
        break;
    }
}

/* 1 when all was read; 0 when the kernel gave up the group (end of file) or errno. */
static int read_group(const struct counter *c, struct reading *r)
{
    uint64_t data[5]; /* events, time enabled, time running, cycles, instructions */
    size_t size = (c->has_instructions ? 5 : 4) * sizeof data[0];
    ssize_t n;

    do {
        n = read(c->perf_fd, data, size);
    } while (n < 0 && errno == EINTR);
    if (n != (ssize_t)size) {
        return 0;
    }
    r->enabled = data[1];
    r->running = data[2];
    r->ticks = data[3];
    r->instructions = c->has_instructions ? data[4] : 0;
    return 1;
}

void perf_read(const struct counter *c, struct reading *r)
{
    if (!read_group(c, r)) {
        reply_fail_text(ST_COUNTER, "core-cycles: the kernel could not keep the counter on the "
                                    "PMU: end other users of perf events, or the NMI watchdog "
                                    "(kernel.nmi_watchdog=0)");
    }
}

int perf_valid(const struct counter *c, const struct reading *a, const struct reading *b,
               struct text *why)
{
    uint64_t enabled = b->enabled - a->enabled, running = b->running - a->running;

    if (b->ticks <= a->ticks || (c->has_instructions && b->instructions <= a->instructions)) {
        text_add(why, "core-cycles: the counter counted nothing: it may belong to another core "
                      "type, or the virtual machine's PMU does not work");
        return 0;
    }
    if (running != enabled) {
        text_add(why, "core-cycles: counted for ");
        text_num(why, running);
        text_add(why, " of ");
        text_num(why, enabled);
        text_add(why, " ns only: end other users of perf events, or the NMI watchdog "
                      "(kernel.nmi_watchdog=0)");
        return 0;
    }
    return 1;
}

/* Counts a little work: 1 when the figures can be right. */
static int try_group(const struct counter *c, struct text *why)
{
    struct reading a, b;
    volatile unsigned i;

    if (!read_group(c, &a)) {
        text_add(why, "core-cycles: the event opens, but the PMU has no room for it: end other "
                      "users of perf events, or the NMI watchdog (kernel.nmi_watchdog=0)");
        return 0;
    }
    for (i = 0; i < 10000; i++) {
    }
    if (!read_group(c, &b)) {
        text_add(why, "core-cycles: the PMU gave up the event");
        return 0;
    }
    return perf_valid(c, &a, &b, why);
}

int perf_open(struct counter *c, int cpu, struct text *why)
{
    struct text ignored = {{0}, 0};
    int instructions, error;

    c->perf_fd = open_event(NGCC_PERF_FIRST, cpu, -1);
    if (c->perf_fd < 0) {
        explain_errno(errno, why);
        return 0;
    }
    instructions = open_event(NGCC_PERF_SECOND, cpu, c->perf_fd);
    error = errno;
    c->has_instructions = instructions >= 0;
    if (c->has_instructions) {
        if (try_group(c, &ignored)) {
            return 1;
        }
        /* A group needs room for both: try the cycles alone, in a fresh event. */
        close(instructions);
        close(c->perf_fd);
        c->has_instructions = 0;
        c->perf_fd = open_event(NGCC_PERF_FIRST, cpu, -1);
        if (c->perf_fd < 0) {
            explain_errno(errno, why);
            return 0;
        }
    }
    if (!try_group(c, why)) {
        close(c->perf_fd);
        c->perf_fd = -1;
        return 0;
    }
    text_add(&c->note, "instructions are not counted: ");
    text_add(&c->note, instructions >= 0 ? ignored.s : strerror(error));
    return 1;
}
