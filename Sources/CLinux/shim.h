/* SPDX-License-Identifier: Apache-2.0 */

/* Calls of Linux that Swift's Glibc module does not show: two take a variable number of arguments, two are declared
   only with _GNU_SOURCE. */

#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

extern int pipe2(int *ends, int flags);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

static inline int kazasu_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L); }

/* Whether something, such as NTP, keeps the clock right: adjtimex(2) without changing anything. Its header would make
   this module the owner of struct timespec; `status` follows `modes` and four longs, STA_UNSYNC is 0x40. */
static inline int kazasu_clock_is_synchronised(void) {
    union {
        long words[64];
        int status[128];
    } state = {{0}};
    return syscall(SYS_adjtimex, &state) >= 0 && !(state.status[5 * sizeof(long) / sizeof(int)] & 0x40);
}
