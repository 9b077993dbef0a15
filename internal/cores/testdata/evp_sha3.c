/* SPDX-License-Identifier: MIT */

/*
 * SHA3-512 of OpenSSL as a core, to compare others with: the algorithm is
 * fetched and the context made once, when the library is loaded, as a program
 * that hashes often would have it. A core of the data root may keep nothing.
 */

#include <openssl/evp.h>
#include <stddef.h>

static EVP_MD *algorithm;
static EVP_MD_CTX *context;

int crypto_hash(unsigned char *out, const unsigned char *in, unsigned long long inlen);

__attribute__((constructor)) static void prepare(void)
{
    algorithm = EVP_MD_fetch(NULL, "SHA3-512", NULL);
    context = EVP_MD_CTX_new();
}

int crypto_hash(unsigned char *out, const unsigned char *in, unsigned long long inlen)
{
    if (algorithm == NULL || context == NULL) {
        return 1;
    }
    return EVP_DigestInit_ex2(context, algorithm, NULL) != 1 ||
           EVP_DigestUpdate(context, in, (size_t)inlen) != 1 ||
           EVP_DigestFinal_ex(context, out, NULL) != 1;
}
