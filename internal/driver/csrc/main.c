/* SPDX-License-Identifier: MIT */

/*
 * The measuring program of bench-action. It loads one core and hashes what it
 * is asked to (mode serve) or times it (mode time), or times two side by side
 * (mode pair); mode probe says which counter a timing would use, mode steady
 * how steadily this CPU works. It speaks on file descriptor 3; standard output
 * and standard error belong to the core.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "crash.h"
#include "input.h"
#include "once.h"
#include "pair.h"
#include "reply.h"
#include "serve.h"
#include "steady.h"
#include "timing.h"

static void fail_usage(const char *what, const char *which)
{
    struct text t = {{0}, 0};

    text_add(&t, what);
    text_add(&t, which);
    reply_fail(ST_DRIVER, &t);
}

static long long number(const char *option, const char *value, long long least, long long most)
{
    char *end;
    long long v;

    errno = 0;
    v = strtoll(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || v < least || v > most) {
        fail_usage("no number in the range of option ", option);
    }
    return v;
}

/* Returns 0 when it is no option of mode pair alone. */
static int set_pair_option(struct time_options *o, const char *name, const char *value)
{
    if (strcmp(name, "--core-b") == 0) {
        o->library_b = value;
    } else if (strcmp(name, "--api-b") == 0) {
        o->api_b = value;
    } else if (strcmp(name, "--digest-bits-b") == 0) {
        o->digest_bits_b = (int)number(name, value, 8, 4096);
    } else if (strcmp(name, "--expected-b") == 0) {
        o->expected_b = (uint64_t)number(name, value, 0, 1024 * 1024);
    } else if (strcmp(name, "--seed") == 0) {
        o->seed = (uint64_t)number(name, value, 0, LLONG_MAX);
    } else {
        return 0;
    }
    return 1;
}

static void set_option(struct time_options *o, const char *name, const char *value)
{
    const long long hour_ns = 3600000000000, kilo = 1024;

    if (strcmp(name, "--core") == 0) {
        o->library = value;
    } else if (strcmp(name, "--api") == 0) {
        o->api = value;
    } else if (strcmp(name, "--counter") == 0) {
        o->counter = value;
    } else if (strcmp(name, "--digest-bits") == 0) {
        o->digest_bits = (int)number(name, value, 8, 4096);
    } else if (strcmp(name, "--cpu") == 0) {
        o->cpu = (int)number(name, value, -1, INT_MAX);
    } else if (strcmp(name, "--bytes") == 0) {
        o->bytes = (uint64_t)number(name, value, 8, kilo * kilo * kilo);
    } else if (strcmp(name, "--min-ns") == 0) {
        o->min_ns = (uint64_t)number(name, value, 1, hour_ns);
    } else if (strcmp(name, "--batch-ns") == 0) {
        o->batch_ns = (uint64_t)number(name, value, 1000, hour_ns);
    } else if (strcmp(name, "--batch-ticks") == 0) {
        o->batch_ticks = (uint64_t)number(name, value, 1, hour_ns);
    } else if (strcmp(name, "--warmup") == 0) {
        o->warmup = (uint64_t)number(name, value, 0, kilo * kilo);
    } else if (strcmp(name, "--expected") == 0) {
        o->expected = (uint64_t)number(name, value, 2, kilo * kilo);
    } else if (strcmp(name, "--probe") == 0) {
        o->probe = (int)number(name, value, 0, 1);
    } else if (!set_pair_option(o, name, value)) {
        fail_usage("unknown option ", name);
    }
}

int main(int argc, char **argv)
{
    struct time_options o;
    const char *mode = argc > 1 ? argv[1] : "";
    int i, serves = strcmp(mode, "serve") == 0;

    if (!serves) {
        reply_as_text();
    }
    crash_install();
    if (strcmp(mode, "once") == 0) {
        once(argc, argv); /* options of its own */
    }
    memset(&o, 0, sizeof o);
    o.library = o.api = o.library_b = o.api_b = "";
    o.counter = "auto";
    o.cpu = -1;
    o.bytes = o.expected = 0;
    o.min_ns = o.batch_ns = o.batch_ticks = 1000;
    if (argc % 2 != 0) {
        reply_fail_text(ST_DRIVER, "an option has no value");
    }
    for (i = 2; i + 1 < argc; i += 2) {
        set_option(&o, argv[i], argv[i + 1]);
    }
    input_open();
    if (serves) {
        serve(o.library, o.api, o.digest_bits);
    } else if (strcmp(mode, "time") == 0) {
        if (o.bytes == 0 || o.expected == 0) {
            reply_fail_text(ST_DRIVER, "mode time needs --bytes and --expected");
        }
        time_core(&o);
    } else if (strcmp(mode, "pair") == 0) {
        if (o.bytes == 0 || o.expected == 0) {
            reply_fail_text(ST_DRIVER, "mode pair needs --bytes and --expected");
        }
        pair_cores(&o);
    } else if (strcmp(mode, "probe") == 0) {
        probe(o.counter, o.cpu);
    } else if (strcmp(mode, "steady") == 0) {
        steady(&o);
    }
    fail_usage("unknown mode ", mode);
    return 1;
}
