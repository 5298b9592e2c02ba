/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The yardstick for `kazasu balance`: the least a C program on libnfc can do to print the money on a transit card.
 * No initiator_init (reading does not need it), one Polling of system 0003 at 212 kbps, one Read Without Encryption
 * of block 0 of service 008B; the balance is at bytes 11 and 12, little-endian (see the transit decoder for sources).
 *
 * usage: balance CONNSTRING
 */
#include <nfc/nfc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    /* System code 0003, request code 0 (no further data), one time slot. */
    static const uint8_t polling[] = {0x00, 0x00, 0x03, 0x00, 0x00};
    static const nfc_modulation felica212 = {.nmt = NMT_FELICA, .nbr = NBR_212};
    uint8_t command[16] = {16, 0x06};
    uint8_t answer[64];
    nfc_context *context = NULL;
    nfc_target target;
    int status = 1;

    if (argc != 2)
        return 64;
    setenv("LIBNFC_LOG_LEVEL", "0", 1);
    nfc_init(&context);
    if (context == NULL)
        return 70;
    nfc_device *device = nfc_open(context, argv[1]);
    if (device == NULL) {
        nfc_exit(context);
        return 69;
    }

    if (nfc_device_set_property_bool(device, NP_INFINITE_SELECT, false) == 0 &&
        nfc_initiator_select_passive_target(device, felica212, polling, sizeof polling, &target) == 1) {
        memcpy(command + 2, target.nti.nfi.abtId, 8);
        memcpy(command + 10, (uint8_t[]){1, 0x8B, 0x00, 1, 0x80, 0x00}, 6);
        int count = nfc_initiator_transceive_bytes(device, command, sizeof command, answer, sizeof answer, 1000);
        /* LEN, 07, IDm, two status flags, number of blocks, the block. */
        if (count == 29 && answer[1] == 0x07 && answer[10] == 0 && answer[12] == 1) {
            const uint8_t *block = answer + 13;
            printf("%u\n", block[11] | (unsigned)block[12] << 8);
            fflush(stdout);
            status = 0;
        }
    }
    nfc_close(device);
    nfc_exit(context);
    return status;
}
