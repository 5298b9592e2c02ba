/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KAZASU_CLIBNFC_SHIM_H
#define KAZASU_CLIBNFC_SHIM_H

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <bits/types/cookie_io_functions_t.h>

#include <nfc/nfc.h>

/*
 * Sends one raw PN53x command and stores its answer, the chip's status byte included.
 * libnfc exports this function but declares it in no installed header.
 */
int pn53x_transceive(nfc_device *pnd, const uint8_t *tx, const size_t tx_length,
                     uint8_t *rx, const size_t rx_size, int timeout_ms);

/*
 * Sets the bits of a mask in a register of the PN53x. The registers 6301 to 633E of its radio are only noted; they are sent with
 * the next command, after a ReadRegister if a mask leaves some bits open (libnfc 1.8.0, libnfc/chips/pn53x.c).
 * Exported, and declared in no installed header, like the function above.
 */
int pn53x_write_register(nfc_device *pnd, const uint16_t address, const uint8_t mask, const uint8_t value);

/* libnfc 1.8.0 calls abort() when bit 7 of a chip's status is set (libnfc/chips/pn53x.c). A handler of SIGABRT that does not
   return is the way out that POSIX leaves. It is taken for such a status in the call below only: memory that was found to be
   damaged, and anything else, ends the process as before. */
struct kazasu_way_out {
    sigjmp_buf place;
    /* The buffer for the answer; null outside of a call. */
    const uint8_t *status;
};

static inline struct kazasu_way_out *kazasu_way_out(void) {
    static __thread struct kazasu_way_out way_out;
    return &way_out;
}

/* What SIGABRT did before. */
static inline struct sigaction *kazasu_abort_before(void) {
    static struct sigaction before;
    return &before;
}

static inline void kazasu_leave_abort(int number) {
    struct kazasu_way_out *way_out = kazasu_way_out();
    if (way_out->status && way_out->status[0] & 0x80) siglongjmp(way_out->place, 1);
    sigaction(number, kazasu_abort_before(), 0);
    raise(number);
}

/* What the next function returns if libnfc has called abort(); no error of libnfc's. */
enum { KAZASU_NFC_ABORTED = -1000 };

/* The same as pn53x_transceive, but for that: the buffer for the answer has at least one byte. */
static inline int kazasu_transceive(nfc_device *pnd, const uint8_t *tx, size_t tx_length, uint8_t *rx, size_t rx_size,
                                    int timeout_ms) {
    static int is_handled;
    if (__sync_bool_compare_and_swap(&is_handled, 0, 1)) {
        struct sigaction action = {.sa_handler = kazasu_leave_abort, .sa_flags = SA_NODEFER};
        sigaction(SIGABRT, &action, kazasu_abort_before());
    }
    struct kazasu_way_out *way_out = kazasu_way_out();
    volatile int result = KAZASU_NFC_ABORTED;
    if (!sigsetjmp(way_out->place, 1)) {
        way_out->status = rx;
        result = pn53x_transceive(pnd, tx, tx_length, rx, rx_size, timeout_ms);
    }
    kazasu_way_out()->status = 0;
    return result;
}

/* glibc declares it only where _GNU_SOURCE is defined, which Swift does not. */
FILE *fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions);

/* Puts another stream in the place of stderr, a variable that Swift does not let itself be assigned to. */
static inline FILE *kazasu_exchange_stderr(FILE *stream) {
    FILE *before = stderr;
    stderr = stream;
    return before;
}

#endif
