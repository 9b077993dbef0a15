/* An AVX-512 instruction, which no valgrind up to 3.2x knows. */
int CryptHash(int bits, const unsigned char *m, unsigned long long n, unsigned char *d)
{
    (void)bits;
    (void)m;
    (void)n;
    (void)d;
    __asm__ volatile("vpxorq %zmm16, %zmm16, %zmm16");
    return 0;
}
