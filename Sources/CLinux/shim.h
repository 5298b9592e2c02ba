/* SPDX-License-Identifier: Apache-2.0 */

/* Calls of Linux that Swift's Glibc module does not show: this one takes a variable number of arguments. */

#include <sys/prctl.h>

static inline int kazasu_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L); }
