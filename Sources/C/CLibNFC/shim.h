/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KAZASU_CLIBNFC_SHIM_H
#define KAZASU_CLIBNFC_SHIM_H

#include <stdio.h>
#include <bits/types/cookie_io_functions_t.h>

#include <nfc/nfc.h>

/*
 * Sends one raw PN53x command and stores its answer, the chip's status byte included.
 * libnfc exports this function but declares it in no installed header.
 */
int pn53x_transceive(nfc_device *pnd, const uint8_t *tx, const size_t tx_length,
                     uint8_t *rx, const size_t rx_size, int timeout_ms);

/* glibc declares it only where _GNU_SOURCE is defined, which Swift does not. */
FILE *fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions);

/* Puts another stream in the place of stderr, a variable that Swift does not let itself be assigned to. */
static inline FILE *kazasu_exchange_stderr(FILE *stream) {
    FILE *before = stderr;
    stderr = stream;
    return before;
}

#endif
