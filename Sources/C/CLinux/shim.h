/* SPDX-License-Identifier: Apache-2.0 */

/* Calls of Linux that Swift's Glibc module does not show: one takes a variable number of arguments, the others are
   declared only with _GNU_SOURCE or in headers outside the module. Those headers would make this module the owner of
   types such as struct timespec, so the calls have names of their own here. */

#include <sys/prctl.h>

static inline int kazasu_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L); }

/* pipe2(2). */
extern int kazasu_pipe(int *ends, int flags) __asm__("pipe2");

/* memfd_create(2), for which MFD_CLOEXEC is 1. */
extern int kazasu_memory_file(const char *name, unsigned int flags) __asm__("memfd_create");

/* tee(2), for which SPLICE_F_NONBLOCK is 2. */
extern long kazasu_tee(int from, int to, unsigned long count, unsigned int flags) __asm__("tee");

/* posix_spawn_file_actions_addclosefrom_np(3). */
extern int kazasu_close_from(void *actions, int first) __asm__("posix_spawn_file_actions_addclosefrom_np");

/* adjtimex(2). */
extern int kazasu_adjust_clock(void *state) __asm__("adjtimex");

/* Whether something, such as NTP, keeps the clock right. Nothing is changed: `modes` is 0. In struct timex, `status`
   follows `modes` and four longs; STA_UNSYNC is 0x40. */
static inline int kazasu_clock_is_synchronised(void) {
    union {
        long words[64];
        int status[128];
    } state = {{0}};
    return kazasu_adjust_clock(&state) >= 0 && !(state.status[5 * sizeof(long) / sizeof(int)] & 0x40);
}
