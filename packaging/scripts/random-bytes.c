/* SPDX-License-Identifier: Apache-2.0 */

/* Debian 12's expat takes random bytes from arc4random_buf, which C libraries before 2.36 lack. make-tar links its libexpat.a
   to a libexpat.so.1 with this in its place (--wrap), so that the archive runs with them. */

#include <sys/random.h>

void __wrap_arc4random_buf(void *bytes, size_t count);

void __wrap_arc4random_buf(void *bytes, size_t count) {
    unsigned char *next = bytes;
    while (count > 0) {
        ssize_t got = getrandom(next, count, 0);
        if (got > 0) {
            next += got;
            count -= (size_t)got;
        }
    }
}
