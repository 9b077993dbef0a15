/* SPDX-License-Identifier: MIT */

#define _GNU_SOURCE
#include "crash.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "guard.h"
#include "reply.h"

static const struct {
    int number;
    const char *name;
} fatal[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGILL, "SIGILL"},
    {SIGFPE, "SIGFPE"},   {SIGABRT, "SIGABRT"},
};

enum access { ACCESS_UNKNOWN, ACCESS_READ, ACCESS_WRITE };

#define STACK_BYTES 65536

static unsigned char *stack; /* a mapping of its own, since the variables may be locked */
static volatile enum phase current_phase;
static volatile uint64_t current_bits;
static const struct region *volatile watched[4]; /* message, digest, forbidden ones */

void crash_phase(enum phase phase, uint64_t msg_bits)
{
    current_bits = msg_bits;
    current_phase = phase;
}

void crash_watch(const struct region *message, const struct region *digest)
{
    watched[0] = message;
    watched[1] = digest;
}

void crash_forbid(const struct region *a, const struct region *b)
{
    watched[2] = a;
    watched[3] = b;
}

/* Whether a SIGSEGV came from a read or a write, as the processor told. */
static enum access fault_access(const void *context)
{
    const ucontext_t *u = context;
#if defined(__x86_64__)
    /* Bit 1 of the page-fault error code; trap 14 is the page fault. */
    if (u->uc_mcontext.gregs[REG_TRAPNO] == 14) {
        return (u->uc_mcontext.gregs[REG_ERR] & 2) != 0 ? ACCESS_WRITE : ACCESS_READ;
    }
#elif defined(__aarch64__)
    /* A list of records, each with a magic number and its size. */
    const unsigned char *p = (const unsigned char *)u->uc_mcontext.__reserved;
    const unsigned char *stop = p + sizeof u->uc_mcontext.__reserved;

    while (stop - p >= 16) {
        uint32_t magic, size;
        uint64_t esr;

        memcpy(&magic, p, 4);
        memcpy(&size, p + 4, 4);
        memcpy(&esr, p + 8, 8);
        if (magic == 0x45535201) { /* ESR_MAGIC of asm/sigcontext.h */
            /* Exception class 0x24 is a data abort; bit 6 is WnR, write not read. */
            if ((esr >> 26 & 0x3f) == 0x24) {
                return (esr & 1u << 6) != 0 ? ACCESS_WRITE : ACCESS_READ;
            }
            break;
        }
        if (magic == 0 || size < 16 || size > (uint64_t)(stop - p)) {
            break;
        }
        p += size;
    }
#else
    (void)u;
#endif
    return ACCESS_UNKNOWN;
}

/*
 * Says where addr lies relative to the object of r, when it lies in the arena
 * or its guards, and whether the core wrote outside its buffers. A fault inside
 * an arena can only be a write: what is protected there may be read. Where an
 * emulator tells no direction, a fault around the digest counts as a write.
 */
static int describe_place(struct text *t, const struct region *r, uintptr_t addr,
                          enum access access, int forbidden, int *outside)
{
    uintptr_t object = (uintptr_t)r->object;
    uintptr_t arena = (uintptr_t)r->arena;
    const char *verb;

    if (addr < arena - r->guard || addr >= arena + r->size + r->guard) {
        return 0;
    }
    if (addr >= arena && addr < arena + r->size && !forbidden) {
        access = ACCESS_WRITE;
    }
    *outside = access == ACCESS_WRITE || forbidden ||
               (access == ACCESS_UNKNOWN && r == watched[1]);
    verb = access == ACCESS_WRITE ? "wrote " : access == ACCESS_READ ? "read " : "touched ";
    text_add(t, verb);
    if (addr < object) {
        text_bytes(t, object - addr);
        text_add(t, " before the start of the ");
    } else if (addr >= object + r->object_size) {
        text_bytes(t, addr - (object + r->object_size) + 1);
        text_add(t, " past the end of the ");
    } else {
        text_add(t, access == ACCESS_WRITE ? "to byte " : "byte ");
        text_num(t, addr - object);
        text_add(t, " of the ");
    }
    text_add(t, r->name);
    return 1;
}

static void describe_fault(struct text *t, int number, const siginfo_t *info,
                           const void *context, enum status *status)
{
    enum access access;
    uintptr_t addr = (uintptr_t)info->si_addr;
    int i;

    if (number != SIGSEGV && number != SIGBUS) {
        return;
    }
    if (info->si_code <= 0) {
        text_add(t, ", sent by a process");
        return;
    }
    access = fault_access(context);
    for (i = 0; i < 4; i++) {
        if (watched[i] != NULL) {
            struct text place = {{0}, 0};
            int outside = 0;
            if (describe_place(&place, watched[i], addr, access, i >= 2, &outside)) {
                text_add(t, ": it ");
                text_add(t, place.s);
                if (outside) {
                    *status = ST_OUTSIDE;
                }
                return;
            }
        }
    }
    text_add(t, access == ACCESS_WRITE  ? ": it wrote to address "
                : access == ACCESS_READ ? ": it read from address "
                                        : " at address ");
    text_hex(t, addr);
}

static void handle(int number, siginfo_t *info, void *context)
{
    enum status status = ST_CRASHED;
    struct text t = {{0}, 0};
    size_t i;

    for (i = 0; i < sizeof fatal / sizeof fatal[0]; i++) {
        if (fatal[i].number == number) {
            text_add(&t, fatal[i].name);
        }
    }
    describe_fault(&t, number, info, context, &status);
    switch (current_phase) {
    case PHASE_DRIVER:
        status = ST_DRIVER;
        text_add(&t, ", in the driver itself");
        break;
    case PHASE_LOAD:
        text_add(&t, ", while the library was loaded");
        break;
    case PHASE_HASH:
        break;
    }
    reply_fail(status, &t);
}

void crash_install(void)
{
    struct sigaction action;
    sigset_t none;
    stack_t alternate;
    size_t i;

    memset(&alternate, 0, sizeof alternate);
    if (stack == NULL) {
        void *m = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (m == MAP_FAILED) {
            reply_fail_text(ST_DRIVER, "no memory for the signals' stack");
        }
        stack = m;
    }
    alternate.ss_sp = stack;
    alternate.ss_size = STACK_BYTES;
    sigaltstack(&alternate, NULL);
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigfillset(&action.sa_mask);
    for (i = 0; i < sizeof fatal / sizeof fatal[0]; i++) {
        sigaction(fatal[i].number, &action, NULL);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_IGN);
}
