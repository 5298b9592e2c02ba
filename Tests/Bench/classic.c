/* SPDX-License-Identifier: Apache-2.0 */
/* classic CONNECTION KEY: reads a whole MIFARE Classic 1K through libfreefare, each sector by its key A, and prints its
   blocks. */

#include <freefare.h>
#include <nfc/nfc.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **words) {
    if (count != 3 || strlen(words[2]) != 12) return 64;
    MifareClassicKey key;
    for (int i = 0; i < 6; i++) {
        unsigned int byte;
        if (sscanf(words[2] + 2 * i, "%2x", &byte) != 1) return 64;
        key[i] = (unsigned char)byte;
    }
    nfc_context *context;
    nfc_init(&context);
    if (context == NULL) return 69;
    nfc_device *device = nfc_open(context, words[1]);
    MifareTag *tags = device ? freefare_get_tags(device) : NULL;
    int status = 75;
    if (tags != NULL && tags[0] != NULL && mifare_classic_connect(tags[0]) == 0) {
        status = 0;
        for (int block = 0; block < 64 && status == 0; block++) {
            MifareClassicBlock data;
            if (block % 4 == 0 && mifare_classic_authenticate(tags[0], (MifareClassicBlockNumber)block, key, MFC_KEY_A) != 0)
                status = 77;
            else if (mifare_classic_read(tags[0], (MifareClassicBlockNumber)block, &data) != 0)
                status = 74;
            else {
                printf("%d ", block);
                for (int i = 0; i < 16; i++) printf("%02X", data[i]);
                printf("\n");
            }
        }
        mifare_classic_disconnect(tags[0]);
    }
    if (tags != NULL) freefare_free_tags(tags);
    if (device != NULL) nfc_close(device);
    nfc_exit(context);
    return status;
}
