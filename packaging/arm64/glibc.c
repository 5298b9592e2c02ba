// SPDX-License-Identifier: Apache-2.0
// The functions of glibc 2.38 that the runtime of Debian's Swift uses and that glibc 2.36 of Debian 12 lacks. They are
// hidden, so that no library sees them.
#include <stdarg.h>
#include <stddef.h>

// The compiler that makes this has no headers of the C library for arm64.
extern size_t strlen(const char *text);
extern size_t strnlen(const char *text, size_t longest);
extern void *memcpy(void *target, const void *source, size_t size);

#define HIDDEN __attribute__((visibility("hidden")))

// glibc 2.38 calls its conversions of C23 by these names; they differ from those of C99 in binary literals only.
#define CONVERSION(type, name)                                                          \
    extern type old_##name(const char *text, char **end, int base) __asm__(#name);      \
    HIDDEN type __isoc23_##name(const char *text, char **end, int base) {               \
        return old_##name(text, end, base);                                             \
    }
CONVERSION(long, strtol)
CONVERSION(long long, strtoll)
CONVERSION(unsigned long, strtoul)
CONVERSION(unsigned long long, strtoull)

extern int old_vsscanf(const char *text, const char *format, va_list list) __asm__("__isoc99_vsscanf");
HIDDEN int __isoc23_sscanf(const char *text, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int count = old_vsscanf(text, format, list);
    va_end(list);
    return count;
}

HIDDEN size_t strlcpy(char *target, const char *source, size_t size) {
    size_t length = strlen(source);
    if (size > 0) {
        size_t kept = length < size ? length : size - 1;
        memcpy(target, source, kept);
        target[kept] = '\0';
    }
    return length;
}

HIDDEN size_t strlcat(char *target, const char *source, size_t size) {
    size_t length = strnlen(target, size);
    return length + strlcpy(target + length, source, size - length);
}
