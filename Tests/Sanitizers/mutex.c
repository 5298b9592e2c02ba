/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets the thread sanitizer see Swift's Mutex under contention. On Linux the quick way in and out of its lock is compiled
 * into our own code, but the slow ways (a futex that the kernel hands on) are inside libswiftSynchronization, which is
 * not instrumented: a value behind a contended Mutex then looks like a data race. This library is preloaded, stands
 * before the slow ways, and tells the sanitizer that the lock was taken or is given up.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SELF __attribute__((swift_context)) void *self

/* Absent in programs that are not under the sanitizer; they inherit the preloading too. */
extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

typedef __attribute__((swiftcall)) void (*lock_function)(uint32_t, SELF);
typedef __attribute__((swiftcall)) bool (*try_lock_function)(SELF);
typedef __attribute__((swiftcall)) void (*unlock_function)(SELF);

__attribute__((swiftcall)) void lock_slow(uint32_t state, SELF) __asm__(LOCK);
__attribute__((swiftcall)) void lock_slow(uint32_t state, SELF)
{
    ((lock_function)dlsym(RTLD_NEXT, LOCK))(state, self);
    if (__tsan_acquire != NULL)
        __tsan_acquire(self);
}

__attribute__((swiftcall)) bool try_lock_slow(SELF) __asm__(TRY_LOCK);
__attribute__((swiftcall)) bool try_lock_slow(SELF)
{
    bool locked = ((try_lock_function)dlsym(RTLD_NEXT, TRY_LOCK))(self);
    if (locked && __tsan_acquire != NULL)
        __tsan_acquire(self);
    return locked;
}

__attribute__((swiftcall)) void unlock_slow(SELF) __asm__(UNLOCK);
__attribute__((swiftcall)) void unlock_slow(SELF)
{
    if (__tsan_release != NULL)
        __tsan_release(self);
    ((unlock_function)dlsym(RTLD_NEXT, UNLOCK))(self);
}

/*
 * The test library takes a backtrace of every error that is thrown. Under the sanitizer that costs tests of hostile
 * bytes minutes, and no finding needs it: the sanitizer walks the stack by itself. Its interceptor calls the next
 * backtrace() after its own, which is this one.
 */
int backtrace(void **addresses, int size);
int backtrace(void **addresses, int size)
{
    (void)addresses;
    (void)size;
    return 0;
}
