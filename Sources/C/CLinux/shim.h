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
