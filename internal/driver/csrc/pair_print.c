/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <stdio.h>

#include "output.h"
#include "pair_state.h"

/* Ticks of A, ticks of B, then ns of both: each side's two batches in the order they ran. */
static void print_block(FILE *out, const struct block *b)
{
    const struct batch *batches = b->batches, *a[2], *other[2];
    const int a_first = b->first == 0;

    a[0] = &batches[a_first ? 0 : 1];
    a[1] = &batches[a_first ? 3 : 2];
    other[0] = &batches[a_first ? 1 : 0];
    other[1] = &batches[a_first ? 2 : 3];
    fprintf(out, "%c %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, 'A' + b->first, a[0]->ticks,
            a[1]->ticks, other[0]->ticks, other[1]->ticks);
    fprintf(out, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, a[0]->ns, a[1]->ns,
            other[0]->ns, other[1]->ns);
}

void pair_print(const struct pair *p)
{
    const struct counter *c = p->counter;
    FILE *out = output_open();
    uint64_t i;

    fprintf(out, "ngcc-pair 1\ncounter %s\nnote %s\n", c->name, c->note.s);
    fprintf(out, "cpu %d\nmigrated %d\ninstructions %d\n", p->cpu, p->migrated,
            c->has_instructions);
    fprintf(out, "overhead-ticks %.3f\nloaded-first %c\n", p->overhead, 'A' + p->loaded_first);
    fprintf(out, "calls-a %" PRIu64 "\ncalls-b %" PRIu64 "\n", p->sides[0].calls,
            p->sides[1].calls);
    fprintf(out, "instructions-a %" PRIu64 "\ninstructions-b %" PRIu64 "\n",
            p->sides[0].instructions, p->sides[1].instructions);
    fprintf(out, "probe-rounds %" PRIu64 "\nblocks %" PRIu64 "\n", p->probe_rounds, p->count);
    for (i = 0; i < p->count; i++) {
        print_block(out, &p->blocks[i]);
        fprintf(out, " %" PRIu64 " %" PRIu64 "\n", p->probes[i], p->probes[i + 1]);
    }
    output_end(out);
}
