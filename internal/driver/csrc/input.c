/* SPDX-License-Identifier: MIT */

#define _GNU_SOURCE
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "reply.h"

static int input_fd = -1;
static unsigned char buffer[65536];
static size_t buffer_start, buffer_end;

void input_open(void)
{
    int null;

    input_fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, REPLY_FD + 1);
    null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (input_fd < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0) {
        reply_fail_text(ST_DRIVER, "standard input cannot be moved");
    }
    close(null);
}

/* Bytes read, 0 at the end of the input. */
static size_t read_some(unsigned char *p, size_t n)
{
    ssize_t k;

    do {
        k = read(input_fd, p, n);
    } while (k < 0 && errno == EINTR);
    return k > 0 ? (size_t)k : 0;
}

int input_read(void *data, size_t n)
{
    unsigned char *p = data;
    size_t done = 0;

    while (done < n) {
        size_t k = buffer_end - buffer_start;
        if (k > 0) {
            k = k < n - done ? k : n - done;
            memcpy(p + done, buffer + buffer_start, k);
            buffer_start += k;
        } else if (n - done >= sizeof buffer) {
            k = read_some(p + done, n - done);
        } else {
            buffer_start = 0;
            buffer_end = read_some(buffer, sizeof buffer);
            if (buffer_end > 0) {
                continue;
            }
        }
        if (k == 0) {
            if (done == 0) {
                return 0;
            }
            _exit(2);
        }
        done += k;
    }
    return 1;
}

void input_forget(void)
{
    memset(buffer, 0, sizeof buffer);
    buffer_start = buffer_end = 0;
}
