/* SPDX-License-Identifier: Apache-2.0 */

/* Calls of Linux that Swift's Glibc module does not show: one takes a variable number of arguments, the others are
   declared only with _GNU_SOURCE or in headers outside the module. Those headers would make this module the owner of
   types such as struct timespec, so the calls have names of their own here. */

#include <sys/ioctl.h>
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

/* getxattr(2). */
extern long kazasu_attribute(const char *path, const char *name, void *value, unsigned long size) __asm__("getxattr");

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

/* The second interface of GPIO chips, which the kernel has since 5.10: GPIO_V2_GET_LINE_IOCTL and
   GPIO_V2_LINE_SET_VALUES_IOCTL of linux/gpio.h, under names of their own because older headers lack them. A test compares
   them with that header. */
struct kazasu_gpio_request {
    unsigned int offsets[64];
    char consumer[32];
    struct {
        unsigned long long flags;
        unsigned int attribute_count;
        unsigned int padding[5];
        unsigned long long attributes[10][3];
    } config;
    unsigned int line_count;
    unsigned int event_buffer_size;
    unsigned int padding[5];
    int descriptor;
};

struct kazasu_gpio_values {
    unsigned long long bits;
    unsigned long long mask;
};

enum { KAZASU_GPIO_OUTPUT = 8 };
#define KAZASU_GPIO_GET_LINE _IOWR(0xB4, 0x07, struct kazasu_gpio_request)
#define KAZASU_GPIO_SET_VALUES _IOWR(0xB4, 0x0F, struct kazasu_gpio_values)

/* Requests a line of an open chip as an output that is off. Returns the descriptor that holds it, or -1 with errno set. */
static inline int kazasu_gpio_output(int chip, unsigned int offset) {
    struct kazasu_gpio_request request = {
        .offsets = {offset}, .consumer = "kazasu", .config = {.flags = KAZASU_GPIO_OUTPUT}, .line_count = 1};
    return ioctl(chip, KAZASU_GPIO_GET_LINE, &request) < 0 ? -1 : request.descriptor;
}

/* Sets the line of a descriptor. Returns 0, or -1 with errno set. */
static inline int kazasu_gpio_set(int line, int is_on) {
    struct kazasu_gpio_values values = {.bits = is_on != 0, .mask = 1};
    return ioctl(line, KAZASU_GPIO_SET_VALUES, &values);
}

/* What puts lights off when the program that lit them is gone. Only async-signal-safe calls follow fork(2). */

extern int kazasu_fork(void) __asm__("fork");
extern int kazasu_session(void) __asm__("setsid");
extern int kazasu_mask_signals(int how, const void *set, void *old) __asm__("sigprocmask");
extern int kazasu_duplicate(int from, int to) __asm__("dup2");
extern int kazasu_close_range(unsigned int first, unsigned int last, int flags) __asm__("close_range");
extern int kazasu_go_to(const char *path) __asm__("chdir");
extern int kazasu_open(const char *path, int flags, ...) __asm__("open");
extern int kazasu_close(int file) __asm__("close");
extern long kazasu_read(int file, void *bytes, unsigned long count) __asm__("read");
extern long kazasu_write(int file, const void *bytes, unsigned long count) __asm__("write");
extern int kazasu_wait(void *files, unsigned long count, int milliseconds) __asm__("poll");
extern void kazasu_end(int status) __asm__("_exit") __attribute__((noreturn));

/* Puts a line of a GPIO chip off. The one that held it may still be ending: it has two seconds. */
static inline void kazasu_gpio_darken(const char *path, unsigned int offset) {
    int chip = kazasu_open(path, 02 /* O_RDWR */);
    for (int attempt = 0; chip >= 0 && attempt < 200; attempt++) {
        int line = kazasu_gpio_output(chip, offset);
        if (line >= 0) {
            kazasu_close(line);
            break;
        }
        kazasu_wait(0, 0, 10);
    }
    if (chip >= 0) kazasu_close(chip);
}

/* Starts a process that waits until the other end of a pipe is closed, as it is however this process ends, and then puts
   lights off: files of brightness, where the offset is negative, and lines of GPIO chips. A byte in the pipe ends it before
   that. It holds nothing else of this process. Returns its number, or -1 with errno set. */
static inline int kazasu_guard_lights(
    int pipe, const char *const *paths, const long long *offsets, unsigned long count) {
    int process = kazasu_fork();
    if (process != 0) return process;
    unsigned long all[128 / sizeof(unsigned long)];
    for (unsigned long index = 0; index < sizeof all / sizeof *all; index++) all[index] = ~0UL;
    kazasu_session();
    kazasu_mask_signals(0 /* SIG_BLOCK */, all, 0);
    prctl(PR_SET_NAME, "kazasu-lights", 0L, 0L, 0L);
    kazasu_duplicate(pipe, 0);
    kazasu_close_range(1, ~0U, 0);
    kazasu_go_to("/");
    char byte;
    if (kazasu_read(0, &byte, 1) == 1) kazasu_end(0);
    for (unsigned long index = 0; index < count; index++) {
        if (offsets[index] >= 0) {
            kazasu_gpio_darken(paths[index], (unsigned int)offsets[index]);
            continue;
        }
        int file = kazasu_open(paths[index], 01001 /* O_WRONLY | O_TRUNC */);
        if (file < 0) continue;
        kazasu_write(file, "0", 1);
        kazasu_close(file);
    }
    kazasu_end(0);
}
