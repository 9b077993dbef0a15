/* SPDX-License-Identifier: MIT */

#define _GNU_SOURCE
#include "own.h"

#include <link.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "reply.h"

/* Called for the program first; ends the walk by returning 1. */
static int find(struct dl_phdr_info *info, size_t size, void *data)
{
    struct region *r = data;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = 0, end = 0, relro = 0;
    int i;

    (void)size;
    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + h->p_vaddr, stop = start + h->p_memsz;
        if (h->p_type == PT_LOAD && (h->p_flags & PF_W) != 0) {
            first = start & ~(page - 1);
            end = (stop + page - 1) & ~(page - 1);
        } else if (h->p_type == PT_GNU_RELRO) {
            relro = stop & ~(page - 1); /* the last page is not protected unless it is whole */
        }
    }
    first = relro > first ? relro : first;
    if (end > first) {
        memset(r, 0, sizeof *r);
        r->name = "driver's variables";
        r->arena = (unsigned char *)first;
        r->size = end - first;
        region_place(r, r->size, PLACE_START);
    }
    return 1;
}

void own_find(struct region *r)
{
    memset(r, 0, sizeof *r);
    dl_iterate_phdr(find, r);
    if (r->size == 0) {
        reply_fail_text(ST_DRIVER, "the program's variables cannot be found");
    }
}
