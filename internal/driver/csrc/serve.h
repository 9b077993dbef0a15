/* SPDX-License-Identifier: MIT */

/* Mode serve: hashes what the Go side asks for, under guard. */

#ifndef NGCC_SERVE_H
#define NGCC_SERVE_H

/* Serves requests from standard input until it ends; never returns. */
void serve(const char *library, const char *api, int digest_bits) __attribute__((noreturn));

#endif
