/* SPDX-License-Identifier: MIT */

/* Leaves a process behind that has a session and a parent of its own. */

#include <sys/wait.h>
#include <unistd.h>

#include "toy.h"

CRYPTHASH
{
    static int forked;

    (void)digest_bits;
    if (!forked) {
        pid_t child = fork();
        forked = 1;
        if (child == 0) {
            setsid();
            if (fork() != 0) {
                _exit(0);
            }
            for (;;) {
                pause();
            }
        }
        waitpid(child, NULL, 0);
    }
    toy_hash(msg, bits, digest);
    return 0;
}
