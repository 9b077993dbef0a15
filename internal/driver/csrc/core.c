/* SPDX-License-Identifier: MIT */

#define _GNU_SOURCE
#include "core.h"

#include <dlfcn.h>
#include <string.h>

#include "crash.h"
#include "reply.h"

static void fail_load(void)
{
    const char *why = dlerror();
    struct text t = {{0}, 0};

    text_add(&t, why != NULL ? why : "no reason given");
    reply_fail(ST_LOAD, &t);
}

void core_load(struct core *c, const char *library, const char *api, int digest_bits)
{
    void *handle, *symbol;
    int bits_api = strcmp(api, "crypthash") == 0;

    memset(c, 0, sizeof *c);
    if (!bits_api && strcmp(api, "crypto_hash") != 0) {
        reply_fail_text(ST_DRIVER, "the api is neither crypthash nor crypto_hash");
    }
    if (digest_bits < 8 || digest_bits % 8 != 0 || digest_bits > 8 * MAX_DIGEST_BYTES) {
        reply_fail_text(ST_DRIVER, "the digest length is not a multiple of 8 from 8 to 4096 bits");
    }
    c->digest_bits = digest_bits;
    c->digest_bytes = (size_t)digest_bits / 8;

    crash_phase(PHASE_LOAD, 0);
    handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    crash_phase(PHASE_DRIVER, 0);
    crash_install(); /* a constructor may have installed handlers of its own */
    if (handle == NULL) {
        fail_load();
    }
    symbol = dlsym(handle, bits_api ? "CryptHash" : "crypto_hash");
    if (symbol == NULL) {
        fail_load();
    }
    /* ISO C has no cast from an object pointer to a function pointer. */
    if (bits_api) {
        memcpy(&c->crypthash, &symbol, sizeof symbol);
    } else {
        memcpy(&c->crypto_hash, &symbol, sizeof symbol);
    }
}

void core_returned(int value)
{
    struct text t = {{0}, 0};

    text_add(&t, "it returned ");
    text_int(&t, value);
    reply_fail(ST_RETURNED, &t);
}
