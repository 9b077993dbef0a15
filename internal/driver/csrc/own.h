/* SPDX-License-Identifier: MIT */

/* The driver's own variables, which a core could find and write to. */

#ifndef NGCC_OWN_H
#define NGCC_OWN_H

#include "guard.h"

/*
 * Finds them: the program's writable segment without its part that the linker
 * protects already. Fails with ST_DRIVER. The driver must be linked with -z now,
 * or its functions could not be found while they are locked.
 */
void own_find(struct region *r);

#endif
