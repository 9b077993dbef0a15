/* SPDX-License-Identifier: MIT */

/* Writes over what has no name and can be written: the message, for one. */

#define WRITABLE 1
#include "pollute.c"
