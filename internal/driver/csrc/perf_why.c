/* SPDX-License-Identifier: MIT */

#define _GNU_SOURCE
#include "perf_why.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* Bits of CapEff (linux/capability.h), either of which lifts the paranoid level. */
#define CAPABILITIES ((uint64_t)1 << 38 /* PERFMON */ | (uint64_t)1 << 21 /* SYS_ADMIN */)

static const char sysctl_dir[] = NGCC_ROOT "/proc/sys/kernel/";

/* Adds "kernel.<name> is <value>". Returns the value, or -100 when it is not known. */
static long add_sysctl(struct text *t, const char *name)
{
    struct text path = {{0}, 0};
    char value[24];
    int known;

    text_add(&path, sysctl_dir);
    text_add(&path, name);
    known = read_line(path.s, value, sizeof value);
    text_add(t, "kernel.");
    text_add(t, name);
    text_add(t, " is ");
    text_add(t, known ? value : "not known");
    return known ? strtol(value, NULL, 10) : -100;
}

/* A number in /proc/self/status after that key, or 0. */
static uint64_t status_field(const char *key, int base)
{
    char text[8192];
    const char *at;

    read_line(NGCC_ROOT "/proc/self/status", text, sizeof text);
    at = strstr(text, key);
    return at == NULL ? 0 : strtoull(at + strlen(key), NULL, base);
}

static int exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* What shows that this process is in a container, or NULL. */
static const char *container_sign(void)
{
    if (exists(NGCC_ROOT "/.dockerenv")) {
        return "/.dockerenv";
    }
    if (exists(NGCC_ROOT "/run/.containerenv")) {
        return "/run/.containerenv";
    }
    return status_field("\nSeccomp:", 10) == 2 ? "a seccomp filter" : NULL;
}

static int is_virtual(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;

    /* The bit that hypervisors set and no processor does. */
    return __get_cpuid(1, &a, &b, &c, &d) && (c >> 31 & 1) != 0;
#else
    return exists(NGCC_ROOT "/proc/device-tree/hypervisor") || exists(NGCC_ROOT "/sys/hypervisor/type");
#endif
}

static void add_permission(struct text *why)
{
    const char *sign = container_sign();
    int capable = (status_field("\nCapEff:", 16) & CAPABILITIES) != 0;
    long level;

    text_add(why, "; ");
    level = add_sysctl(why, "perf_event_paranoid");
    text_add(why, capable ? ", CAP_PERFMON or CAP_SYS_ADMIN is there"
                          : ", neither CAP_PERFMON nor CAP_SYS_ADMIN is there");
    if (sign != NULL) {
        text_add(why, ", a container by the look of ");
        text_add(why, sign);
    }
    text_add(why, ": ");
    /* 2 lets a process count its own user mode; Debian and Ubuntu refuse from 3 on. */
    if (level > 2) {
        text_add(why, "sudo sysctl kernel.perf_event_paranoid=2");
        if (sign != NULL) {
            text_add(why, " on the container's host, or start the container with "
                          "--cap-add PERFMON");
        }
    } else {
        text_add(why, "the level would allow it, so a seccomp profile or a security module "
                      "refuses: start the container with --cap-add PERFMON, else with "
                      "--security-opt seccomp=unconfined");
    }
}

static void add_no_pmu(struct text *why, const struct pmu *pmu)
{
    if (pmu->name[0] == '\0') {
        text_add(why, ": the kernel shows no PMU of this core in /sys/bus/event_source/devices");
    } else {
        text_add(why, ": the PMU ");
        text_add(why, pmu->name);
        text_add(why, " does not count it");
    }
    if (is_virtual()) {
        text_add(why, ", and this is a virtual machine: start it with a virtual PMU (QEMU: -cpu "
                      "host,pmu=on; libvirt: <pmu state='on'/>; clouds: a bare-metal instance) "
                      "or use real hardware");
    } else {
        text_add(why, ": if this is a virtual machine, start it with a virtual PMU, else look for "
                      "PMU in: sudo dmesg");
    }
}

void why_refused(struct text *why, int error, const struct pmu *pmu)
{
    text_add(why, "core-cycles: perf_event_open: ");
    text_add(why, strerror(error));
    text_add(why, " (errno ");
    text_num(why, (uint64_t)error);
    text_add(why, ")");
    switch (error) {
    case EACCES:
    case EPERM:
        add_permission(why);
        break;
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
    case ENXIO:
        add_no_pmu(why, pmu);
        break;
    case ENOSYS:
        text_add(why, ": this kernel, emulator or sandbox lacks the system call: use a kernel "
                      "with CONFIG_PERF_EVENTS, and neither qemu-user nor gVisor");
        break;
    case EBUSY:
        text_add(why, ": another user holds the PMU for itself: end it (sudo lsof | grep "
                      "perf_event lists them)");
        break;
    case EMFILE:
        text_add(why, ": too many open files: ulimit -n 1024");
        break;
    case EINVAL:
    case E2BIG:
        text_add(why, ": the kernel does not know this kind of event: use Linux 4.19 or later");
        break;
    default:
        break;
    }
}

void why_no_room(struct text *why, uint64_t running, uint64_t enabled)
{
    text_add(why, "core-cycles: ");
    if (enabled > 0) {
        text_add(why, "counted for ");
        text_num(why, running);
        text_add(why, " of ");
        text_num(why, enabled);
        text_add(why, " ns only, since ");
    }
    text_add(why, "the PMU has no room for the event all the time: end other users of perf events (");
    if (add_sysctl(why, "nmi_watchdog") == 1) {
        text_add(why, " and holds a counter: sudo sysctl kernel.nmi_watchdog=0");
    }
    text_add(why, ")");
}

void why_nothing(struct text *why, const struct pmu *pmu)
{
    text_add(why, "core-cycles: the counter counted nothing: ");
    if (pmu->units > 1) {
        text_add(why, "there are several kinds of cores, and ");
        text_add(why, pmu->name[0] != '\0' ? pmu->name : "no PMU");
        text_add(why, " counts on this one: bind the process to one CPU");
    } else if (is_virtual()) {
        text_add(why, "this virtual machine's PMU does not work: start it with -cpu host,pmu=on "
                      "or use real hardware");
    } else {
        text_add(why, "the PMU does not work");
    }
}

void why_no_user(struct text *why, const char *call, int error)
{
    text_add(why, PMC_NAME ": ");
    text_add(why, call);
    text_add(why, ": ");
    text_add(why, strerror(error));
#if defined(__aarch64__)
    text_add(why, ": Linux 5.17 and later let a process read its counters");
#endif
    if (error == EPERM && strcmp(call, "mmap") == 0) {
        text_add(why, ": sudo sysctl kernel.perf_event_mlock_kb=516");
    }
}

void why_page(struct text *why, enum page_state state, const struct pmu *pmu)
{
    text_add(why, PMC_NAME ": ");
    switch (state) {
    case PAGE_OK:
        break;
    case PAGE_REFUSED:
    case PAGE_IDLE:
        text_add(why, state == PAGE_IDLE ? "the event is on no counter that a process may read"
                                         : "the kernel does not let a process read the counter");
#if defined(__aarch64__)
        (void)pmu;
        text_add(why, " (");
        if (add_sysctl(why, "perf_user_access") == 0) {
            text_add(why, ": sudo sysctl kernel.perf_user_access=1");
        }
        text_add(why, ")");
#else
        if (state == PAGE_REFUSED && pmu->name[0] != '\0') {
            text_add(why, ": echo 1 | sudo tee /sys/bus/event_source/devices/");
            text_add(why, pmu->name);
            text_add(why, "/rdpmc");
        }
#endif
        break;
    case PAGE_STRANGE:
        text_add(why, "the kernel names a counter that is not known here");
        break;
    case PAGE_CHANGING:
        text_add(why, "the kernel changes the counter's page all the time");
        break;
    }
}
