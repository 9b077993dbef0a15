/* 2 n + 3 instructions, n of them conditional branches, for n bytes: count them. */
__asm__(".text\n.globl CryptHash\n.type CryptHash, %function\nCryptHash:\n"
#if defined(__x86_64__)
        "shr $3, %rdx\n1: dec %rdx\njnz 1b\nxor %eax, %eax\nret\n"
#elif defined(__aarch64__)
        "lsr x2, x2, #3\n1: subs x2, x2, #1\nb.ne 1b\nmov w0, #0\nret\n"
#endif
        ".size CryptHash, .-CryptHash\n");
