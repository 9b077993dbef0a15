/* SPDX-License-Identifier: MIT */

#define _GNU_SOURCE
#include "pmu_type.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEVICES NGCC_ROOT "/sys/bus/event_source/devices"

int read_line(const char *path, char *s, size_t size)
{
    ssize_t n = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        n = read(fd, s, size - 1);
        close(fd);
    }
    if (n > 0 && s[n - 1] == '\n') {
        n--;
    }
    s[n > 0 ? n : 0] = '\0';
    return n > 0;
}

int cpu_listed(const char *list, int cpu)
{
    for (;;) {
        char *end;
        long first = strtol(list, &end, 10), last = first;

        if (end == list) {
            return 0;
        }
        if (*end == '-') {
            last = strtol(end + 1, &end, 10);
        }
        if (cpu >= first && cpu <= last) {
            return 1;
        }
        if (*end != ',') {
            return 0;
        }
        list = end + 1;
    }
}

void pmu_find(struct pmu *p, int cpu)
{
    DIR *dir = opendir(DEVICES);
    struct dirent *e;

    memset(p, 0, sizeof *p);
    while (dir != NULL && (e = readdir(dir)) != NULL) {
        char path[512], text[4096];
        int named;
        if (e->d_name[0] == '.' || strlen(e->d_name) >= sizeof p->name) {
            continue;
        }
        /* A core's unit is "cpu", or names its CPUs in "cpus"; units outside of
         * the cores have "cpumask" (kernel, tools/perf/util/pmu.c). */
        snprintf(path, sizeof path, DEVICES "/%s/cpus", e->d_name);
        named = read_line(path, text, sizeof text);
        if (!named && strcmp(e->d_name, "cpu") != 0) {
            continue;
        }
        p->units++;
        if (named && !cpu_listed(text, cpu)) {
            continue;
        }
        snprintf(path, sizeof path, DEVICES "/%s/type", e->d_name);
        if (read_line(path, text, sizeof text)) {
            memcpy(p->name, e->d_name, strlen(e->d_name) + 1);
            p->type = (uint32_t)strtoul(text, NULL, 10);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
}
