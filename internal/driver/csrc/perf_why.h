/* SPDX-License-Identifier: MIT */

/* Why a perf event is not to be had here, and the command that mends it. */

#ifndef NGCC_PERF_WHY_H
#define NGCC_PERF_WHY_H

#include "pmu_type.h"
#include "pmu_user.h"
#include "reply.h"

/* perf_event_open failed with that errno. */
void why_refused(struct text *why, int error, const struct pmu *pmu);

/* The event opens, but had a counter for so long only, in ns; or never (enabled 0). */
void why_no_room(struct text *why, uint64_t running, uint64_t enabled);

/* The event opens, and counts nothing. */
void why_nothing(struct text *why, const struct pmu *pmu);

/* The event is not to be read in user space; never PAGE_OK. */
void why_page(struct text *why, enum page_state state, const struct pmu *pmu);

/* The kernel does not open events for reading in user space, or map their page. */
void why_no_user(struct text *why, const char *call, int error);

#endif
