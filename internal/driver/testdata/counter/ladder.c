/* SPDX-License-Identifier: MIT */

/*
 * perf_open and perf_read over a made-up kernel. The arguments, key=value, say
 * what that kernel refuses; the output is what came of it.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static long fake_open(long number, ...);
static ssize_t fake_read(int fd, void *data, size_t size);
static void *fake_map(void *at, size_t size, int protection, int flags, int fd, off_t offset);

#include "perf_group.h"
#include "perf_why.h"
#include "pmu_user.h"

static int fake_pmc(uint32_t n, uint64_t *value)
{
    (void)n;
    if (getenv("fault") != NULL) {
        raise(SIGILL);
    }
    *value = 5 + (uint64_t)(getenv("wrong") != NULL ? 1 << 20 : 0);
    return 1;
}

#define syscall fake_open
#define mmap fake_map
#define munmap(p, n) ((void)(p), (void)(n))
#define close(fd) (opened--, closed[fd - 100] = 1)
#define read fake_read
#define pmc_read fake_pmc
static int opened, closed[64];
#include "perf.c"
#include "perf_group.c"
#undef read
#undef close

static struct perf_event_attr attrs[64];
static int cpus[64], leaders[64], total, count;
static struct perf_event_mmap_page pages[64];

/* The value of a key among the arguments, which main put into the environment. */
static long option(const char *key)
{
    const char *v = getenv(key);

    return v == NULL ? -1 : strtol(v, NULL, 0);
}

static long fake_open(long number, ...)
{
    va_list list;
    const struct perf_event_attr *attr;
    int cpu, leader, event;
    static const char *const refuse[] = {"cycles", "instructions", "", "", "", "branches"};

    va_start(list, number);
    attr = va_arg(list, const struct perf_event_attr *);
    (void)va_arg(list, int);
    cpu = va_arg(list, int);
    leader = va_arg(list, int);
    va_end(list);
    event = (int)(attr->config & 0xff);
    errno = 0;
    if (option(refuse[event]) > 0) {
        errno = (int)option(refuse[event]);
    } else if (attr->config >> 32 != 0 && option("type") > 0) {
        errno = (int)option("type");
    } else if ((attr->config1 & 1) != 0 && event != 0 && option("long") > 0) {
        errno = (int)option("long");
    } else if ((attr->config1 & 2) != 0 && cpu >= 0 && option("bound") > 0) {
        errno = (int)option("bound");
    }
    if (errno != 0) {
        return -1;
    }
    attrs[total] = *attr;
    cpus[total] = cpu;
    leaders[total] = leader;
    opened++;
    return 100 + total++;
}

static int members(int fd)
{
    int i, n = 1;

    for (i = 0; i < total; i++) {
        n += leaders[i] == fd && !closed[i];
    }
    return n;
}

static ssize_t fake_read(int fd, void *data, size_t size)
{
    uint64_t *d = data;
    int i, n = members(fd);

    if (option("room") >= 0 && n > option("room")) {
        return 0;
    }
    count++;
    d[0] = (uint64_t)n;
    d[1] = 1000 * (uint64_t)count;
    d[2] = option("shared") > 0 ? 400 * (uint64_t)count : d[1];
    for (i = 0; i < n; i++) {
        d[3 + i] = option("silent") == i ? 0 : (uint64_t)(100 * count);
    }
    return size == (size_t)(3 + n) * 8 ? (ssize_t)size : -1;
}

/* The page's count lies between the reading before and the one after. */
static void *fake_map(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    struct perf_event_mmap_page *p = &pages[fd - 100];

    (void)at;
    (void)size;
    (void)protection;
    (void)flags;
    (void)offset;
    if (option("map") > 0) {
        errno = (int)option("map");
        return MAP_FAILED;
    }
    p->cap_user_rdpmc = option("rdpmc") != 0;
    p->index = option("index") >= 0 ? (uint32_t)option("index") : 1;
    p->pmc_width = 48;
    p->offset = 100 * count + 145;
    return p;
}

int main(int argc, char **argv)
{
    static struct counter c;
    struct text why = {{0}, 0};
    struct reading r;
    int i;

    for (i = 2; i < argc; i++) {
        putenv(argv[i]);
    }
    c.perf_fd = -1;
    if (!perf_open(&c, atoi(argv[1]), &why)) {
        printf("failed: %s\nopen %d, pages %d\n", why.s, opened, c.page[0] != NULL);
        return 0;
    }
    perf_read(&c, &r);
    printf("how %s, instructions %d, branch misses %d, open %d\n", c.how, c.has_instructions,
           c.has_branch_misses, opened);
    i = c.perf_fd - 100;
    printf("leader: config %llx, config1 %llx, cpu %d\nlast: config1 %llx\n",
           (unsigned long long)attrs[i].config, (unsigned long long)attrs[i].config1, cpus[i],
           (unsigned long long)attrs[total - 1].config1);
    printf("note: %s\n", c.note.s);
    return 0;
}
