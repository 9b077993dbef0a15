/* An instruction of the SHA extensions. */
int CryptHash(int bits, const unsigned char *m, unsigned long long n, unsigned char *d)
{
    (void)bits;
    (void)m;
    (void)n;
    (void)d;
    __asm__ volatile("sha256msg1 %xmm1, %xmm0");
    return 0;
}
