/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KAZASU_CLIBNFC_SHIM_H
#define KAZASU_CLIBNFC_SHIM_H

#include <nfc/nfc.h>

/*
 * Sends one raw PN53x command and stores its answer, the chip's status byte included.
 * libnfc exports this function but declares it in no installed header.
 */
int pn53x_transceive(nfc_device *pnd, const uint8_t *tx, const size_t tx_length,
                     uint8_t *rx, const size_t rx_size, int timeout_ms);

#endif
