/* SPDX-License-Identifier: MIT */

/*
 * Which registers a function must keep: System V ABI, AMD64 supplement, 3.2.1,
 * and AAPCS64, 6.1. The status bits of MXCSR and FPSR may change.
 */

#include "convention.h"

#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "reply.h"

#define PATTERN 0xc0de5a5a01234567u

#if defined(__x86_64__)

__asm__(".text\n"
        ".p2align 6\n"
        ".globl ngcc_calls_run\n"
        ".hidden ngcc_calls_run\n"
        ".type ngcc_calls_run, @function\n"
        "ngcc_calls_run:\n"
        "\tpushq %rbx\n"
        "\tpushq %rbp\n"
        "\tpushq %r12\n"
        "\tpushq %r13\n"
        "\tpushq %r14\n"
        "\tpushq %r15\n"
        "\tpushq %rdi\n" /* the calls; the stack is aligned now */
        "\tmovq 56(%rdi), %rbx\n"
        "\tmovq 64(%rdi), %rbp\n"
        "\tmovq 72(%rdi), %r12\n"
        "\tmovq 80(%rdi), %r13\n"
        "\tmovq 88(%rdi), %r14\n"
        "\tmovq 96(%rdi), %r15\n"
        "\tmovq %rdi, %rax\n"
        ".p2align 6\n"
        "1:\n"
        "\tmovq 8(%rax), %rdi\n"
        "\tmovq 16(%rax), %rsi\n"
        "\tmovq 24(%rax), %rdx\n"
        "\tmovq 32(%rax), %rcx\n"
        "\tcall *(%rax)\n"
        "\tmovl %eax, %edx\n"
        "\tmovq (%rsp), %rax\n"
        "\torl %edx, 48(%rax)\n"
        "\tdecq 40(%rax)\n"
        "\tjnz 1b\n"
        "\tmovq %rbx, 56(%rax)\n"
        "\tmovq %rbp, 64(%rax)\n"
        "\tmovq %r12, 72(%rax)\n"
        "\tmovq %r13, 80(%rax)\n"
        "\tmovq %r14, 88(%rax)\n"
        "\tmovq %r15, 96(%rax)\n"
        "\tpushfq\n"
        "\tpopq 104(%rax)\n"
        "\tcld\n"
        "\tstmxcsr 112(%rax)\n"
        "\tfnstcw 120(%rax)\n"
        "\tpopq %rdi\n"
        "\tpopq %r15\n"
        "\tpopq %r14\n"
        "\tpopq %r13\n"
        "\tpopq %r12\n"
        "\tpopq %rbp\n"
        "\tpopq %rbx\n"
        "\tret\n"
        ".size ngcc_calls_run, . - ngcc_calls_run\n");

/* Bits that must be kept: of the flags the direction, of MXCSR all but the status. */
static const struct {
    const char *name;
    uint64_t mask;
} kept[CONVENTION_VALUES] = {
    {"rbx", ~(uint64_t)0}, {"rbp", ~(uint64_t)0}, {"r12", ~(uint64_t)0},
    {"r13", ~(uint64_t)0}, {"r14", ~(uint64_t)0}, {"r15", ~(uint64_t)0},
    {"the direction flag", 0x400}, {"the control bits of MXCSR", 0xffc0},
    {"the x87 control word", 0xffff},
};

#define GENERAL 6 /* the first ones hold a pattern, the others what they held before */

static void read_controls(uint64_t *values)
{
    uint32_t mxcsr;
    uint16_t word;

    __asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
    __asm__ volatile("fnstcw %0" : "=m"(word));
    values[GENERAL] = 0; /* the direction flag is clear at every call, says the ABI */
    values[GENERAL + 1] = mxcsr;
    values[GENERAL + 2] = word;
}

static int has_avx(void)
{
    unsigned a, b, c, d;

    /* AVX, and OSXSAVE: the system saves registers that XCR0 tells. */
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & 1u << 28) == 0 || (c & 1u << 27) == 0) {
        return 0;
    }
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    return (a & 6) == 6; /* the halves that SSE and AVX use */
}

void vectors_reset(void)
{
    static int avx = -1;

    if (avx < 0) {
        avx = has_avx();
    }
    if (avx) {
        __asm__ volatile("vzeroupper" : : : "memory");
    }
}

#else

__asm__(".text\n"
        ".p2align 6\n"
        ".globl ngcc_calls_run\n"
        ".hidden ngcc_calls_run\n"
        ".type ngcc_calls_run, %function\n"
        "ngcc_calls_run:\n"
        "\tstp x29, x30, [sp, #-176]!\n"
        "\tstp x19, x20, [sp, #16]\n"
        "\tstp x21, x22, [sp, #32]\n"
        "\tstp x23, x24, [sp, #48]\n"
        "\tstp x25, x26, [sp, #64]\n"
        "\tstp x27, x28, [sp, #80]\n"
        "\tstp d8, d9, [sp, #96]\n"
        "\tstp d10, d11, [sp, #112]\n"
        "\tstp d12, d13, [sp, #128]\n"
        "\tstp d14, d15, [sp, #144]\n"
        "\tstr x0, [sp, #160]\n"
        "\tldp x19, x20, [x0, #56]\n"
        "\tldp x21, x22, [x0, #72]\n"
        "\tldp x23, x24, [x0, #88]\n"
        "\tldp x25, x26, [x0, #104]\n"
        "\tldp x27, x28, [x0, #120]\n"
        "\tldr x29, [x0, #136]\n"
        "\tldp d8, d9, [x0, #144]\n"
        "\tldp d10, d11, [x0, #160]\n"
        "\tldp d12, d13, [x0, #176]\n"
        "\tldp d14, d15, [x0, #192]\n"
        "\tmov x9, x0\n"
        ".p2align 6\n"
        "1:\n"
        "\tldr x10, [x9]\n"
        "\tldp x0, x1, [x9, #8]\n"
        "\tldp x2, x3, [x9, #24]\n"
        "\tblr x10\n"
        "\tldr x9, [sp, #160]\n"
        "\tldp x10, x11, [x9, #40]\n"
        "\tmov w0, w0\n"
        "\torr x11, x11, x0\n"
        "\tsub x10, x10, #1\n"
        "\tstp x10, x11, [x9, #40]\n"
        "\tcbnz x10, 1b\n"
        "\tstp x19, x20, [x9, #56]\n"
        "\tstp x21, x22, [x9, #72]\n"
        "\tstp x23, x24, [x9, #88]\n"
        "\tstp x25, x26, [x9, #104]\n"
        "\tstp x27, x28, [x9, #120]\n"
        "\tstr x29, [x9, #136]\n"
        "\tstp d8, d9, [x9, #144]\n"
        "\tstp d10, d11, [x9, #160]\n"
        "\tstp d12, d13, [x9, #176]\n"
        "\tstp d14, d15, [x9, #192]\n"
        "\tmrs x10, fpcr\n"
        "\tstr x10, [x9, #208]\n"
        "\tldp x19, x20, [sp, #16]\n"
        "\tldp x21, x22, [sp, #32]\n"
        "\tldp x23, x24, [sp, #48]\n"
        "\tldp x25, x26, [sp, #64]\n"
        "\tldp x27, x28, [sp, #80]\n"
        "\tldp d8, d9, [sp, #96]\n"
        "\tldp d10, d11, [sp, #112]\n"
        "\tldp d12, d13, [sp, #128]\n"
        "\tldp d14, d15, [sp, #144]\n"
        "\tldp x29, x30, [sp], #176\n"
        "\tret\n"
        ".size ngcc_calls_run, . - ngcc_calls_run\n");

#define ALL ~(uint64_t)0

static const struct {
    const char *name;
    uint64_t mask;
} kept[CONVENTION_VALUES] = {
    {"x19", ALL}, {"x20", ALL}, {"x21", ALL}, {"x22", ALL}, {"x23", ALL},
    {"x24", ALL}, {"x25", ALL}, {"x26", ALL}, {"x27", ALL}, {"x28", ALL},
    {"x29", ALL}, {"d8", ALL},  {"d9", ALL},  {"d10", ALL}, {"d11", ALL},
    {"d12", ALL}, {"d13", ALL}, {"d14", ALL}, {"d15", ALL}, {"FPCR", ALL},
};

#define GENERAL 19 /* the first ones hold a pattern, the last what it held before */

static void read_controls(uint64_t *values)
{
    __asm__ volatile("mrs %0, fpcr" : "=r"(values[GENERAL]));
}

void vectors_reset(void)
{
}

#endif

void calls_prepare(struct calls *c, const struct core *core, const unsigned char *msg,
                   uint64_t msg_bits, unsigned char *digest, uint64_t count)
{
    int i;

    memset(c, 0, sizeof *c);
    if (core->crypthash != NULL) {
        memcpy(&c->function, &core->crypthash, sizeof c->function);
        c->args[0] = (uint64_t)core->digest_bits;
        c->args[1] = (uint64_t)(uintptr_t)msg;
        c->args[2] = msg_bits;
        c->args[3] = (uint64_t)(uintptr_t)digest;
    } else {
        memcpy(&c->function, &core->crypto_hash, sizeof c->function);
        c->args[0] = (uint64_t)(uintptr_t)digest;
        c->args[1] = (uint64_t)(uintptr_t)msg;
        c->args[2] = msg_bits / 8;
    }
    c->count = count;
    for (i = 0; i < GENERAL; i++) {
        c->values[i] = PATTERN * (uint64_t)(i + 1);
    }
    read_controls(c->values);
    memcpy(c->right, c->values, sizeof c->right);
}

void calls_check(const struct calls *c)
{
    struct text t = {{0}, 0};
    int i;

    for (i = 0; i < CONVENTION_VALUES; i++) {
        if (((c->values[i] ^ c->right[i]) & kept[i].mask) != 0) {
            text_add(&t, t.n == 0 ? "it changed " : ", ");
            text_add(&t, kept[i].name);
        }
    }
    if (t.n > 0) {
        reply_fail(ST_CONVENTION, &t);
    }
    if (c->returned != 0) {
        core_returned((int)(uint32_t)c->returned);
    }
}
