int CryptHash(int bits, const unsigned char *m, unsigned long long n, unsigned char *d)
{
    (void)bits;
    (void)m;
    (void)n;
    (void)d;
    *(volatile int *)16 = 1;
    return 0;
}
