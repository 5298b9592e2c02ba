/* SPDX-License-Identifier: Apache-2.0 */

#include "CPCSC.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

/* SCARD_E_NO_SERVICE of pcsclite.h. */
#define NO_SERVICE ((LONG)0x8010001D)

/* The ABI that libpcsclite has had since 1.0. */
static const char file[] = "libpcsclite.so.1";

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int is_loaded;
static LONG (*establishContext)(DWORD scope, const void *reserved1, const void *reserved2, SCARDCONTEXT *context);
static LONG (*releaseContext)(SCARDCONTEXT context);
static LONG (*cancel)(SCARDCONTEXT context);
static LONG (*listReaders)(SCARDCONTEXT context, const char *groups, char *readers, DWORD *length);
static LONG (*getStatusChange)(SCARDCONTEXT context, DWORD timeout, SCARD_READERSTATE *states, DWORD count);
static LONG (*connect)(SCARDCONTEXT context, const char *reader, DWORD mode, DWORD protocols, SCARDHANDLE *card,
                       DWORD *protocol);
static LONG (*reconnect)(SCARDHANDLE card, DWORD mode, DWORD protocols, DWORD initialization, DWORD *protocol);
static LONG (*disconnect)(SCARDHANDLE card, DWORD disposition);
static LONG (*transmit)(SCARDHANDLE card, const SCARD_IO_REQUEST *send, const unsigned char *command, DWORD length,
                        SCARD_IO_REQUEST *receive, unsigned char *answer, DWORD *answerLength);
static LONG (*control)(SCARDHANDLE card, DWORD code, const void *command, DWORD length, void *answer, DWORD room,
                       DWORD *answerLength);
static LONG (*getAttrib)(SCARDHANDLE card, DWORD attribute, unsigned char *value, DWORD *length);

/* A function pointer from dlsym, as POSIX wants it stored. */
static int find(void *library, const char *name, void **function) {
    *function = dlsym(library, name);
    return *function != NULL;
}

static void load(void) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return;
    is_loaded = find(library, "SCardEstablishContext", (void **)&establishContext) &&
                find(library, "SCardReleaseContext", (void **)&releaseContext) &&
                find(library, "SCardCancel", (void **)&cancel) &&
                find(library, "SCardListReaders", (void **)&listReaders) &&
                find(library, "SCardGetStatusChange", (void **)&getStatusChange) &&
                find(library, "SCardConnect", (void **)&connect) &&
                find(library, "SCardReconnect", (void **)&reconnect) &&
                find(library, "SCardDisconnect", (void **)&disconnect) &&
                find(library, "SCardTransmit", (void **)&transmit) &&
                find(library, "SCardControl", (void **)&control) &&
                find(library, "SCardGetAttrib", (void **)&getAttrib);
}

int kazasu_has_pcsclite(void) {
    pthread_once(&once, load);
    return is_loaded;
}

LONG SCardEstablishContext(DWORD scope, const void *reserved1, const void *reserved2, SCARDCONTEXT *context) {
    return kazasu_has_pcsclite() ? establishContext(scope, reserved1, reserved2, context) : NO_SERVICE;
}

LONG SCardReleaseContext(SCARDCONTEXT context) {
    return kazasu_has_pcsclite() ? releaseContext(context) : NO_SERVICE;
}

LONG SCardCancel(SCARDCONTEXT context) {
    return kazasu_has_pcsclite() ? cancel(context) : NO_SERVICE;
}

LONG SCardListReaders(SCARDCONTEXT context, const char *groups, char *readers, DWORD *length) {
    return kazasu_has_pcsclite() ? listReaders(context, groups, readers, length) : NO_SERVICE;
}

LONG SCardGetStatusChange(SCARDCONTEXT context, DWORD timeout, SCARD_READERSTATE *states, DWORD count) {
    return kazasu_has_pcsclite() ? getStatusChange(context, timeout, states, count) : NO_SERVICE;
}

LONG SCardConnect(SCARDCONTEXT context, const char *reader, DWORD mode, DWORD protocols, SCARDHANDLE *card, DWORD *protocol) {
    return kazasu_has_pcsclite() ? connect(context, reader, mode, protocols, card, protocol) : NO_SERVICE;
}

LONG SCardReconnect(SCARDHANDLE card, DWORD mode, DWORD protocols, DWORD initialization, DWORD *protocol) {
    return kazasu_has_pcsclite() ? reconnect(card, mode, protocols, initialization, protocol) : NO_SERVICE;
}

LONG SCardDisconnect(SCARDHANDLE card, DWORD disposition) {
    return kazasu_has_pcsclite() ? disconnect(card, disposition) : NO_SERVICE;
}

LONG SCardTransmit(SCARDHANDLE card, const SCARD_IO_REQUEST *send, const unsigned char *command, DWORD length, SCARD_IO_REQUEST *receive, unsigned char *answer, DWORD *answerLength) {
    return kazasu_has_pcsclite() ? transmit(card, send, command, length, receive, answer, answerLength) : NO_SERVICE;
}

LONG SCardControl(SCARDHANDLE card, DWORD code, const void *command, DWORD length, void *answer, DWORD room, DWORD *answerLength) {
    return kazasu_has_pcsclite() ? control(card, code, command, length, answer, room, answerLength) : NO_SERVICE;
}

LONG SCardGetAttrib(SCARDHANDLE card, DWORD attribute, unsigned char *value, DWORD *length) {
    return kazasu_has_pcsclite() ? getAttrib(card, attribute, value, length) : NO_SERVICE;
}
