/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KAZASU_CPCSC_H
#define KAZASU_CPCSC_H

/*
 * The part of libpcsclite that Kazasu calls, declared as winscard.h and pcsclite.h of pcsc-lite declare it on Linux.
 *
 * The library is opened at run time, so that the client is the one that was installed with pcscd: the two must speak the
 * same protocol, which changed in 2.3.0 and 2.4.1. The interface is PC/SC's and has not changed since 2007.
 */

typedef long LONG;
typedef unsigned long DWORD;
typedef LONG SCARDCONTEXT;
typedef LONG SCARDHANDLE;

#define MAX_ATR_SIZE 33

typedef struct {
    const char *szReader;
    void *pvUserData;
    DWORD dwCurrentState;
    DWORD dwEventState;
    DWORD cbAtr;
    unsigned char rgbAtr[MAX_ATR_SIZE];
} SCARD_READERSTATE;

typedef struct {
    unsigned long dwProtocol;
    unsigned long cbPciLength;
} SCARD_IO_REQUEST;

#define SCARD_SCOPE_SYSTEM 0x0002
#define SCARD_PROTOCOL_ANY 0x0003
#define SCARD_SHARE_EXCLUSIVE 0x0001
#define SCARD_SHARE_DIRECT 0x0003
#define SCARD_LEAVE_CARD 0x0000
#define SCARD_RESET_CARD 0x0001

/* Whether libpcsclite could be opened; the first call opens it. Without it, the calls below are SCARD_E_NO_SERVICE. */
int kazasu_has_pcsclite(void);

/* Named differently for the linker, so that they never take the place of the library's own. */
LONG SCardEstablishContext(DWORD scope, const void *reserved1, const void *reserved2, SCARDCONTEXT *context)
    __asm__("kazasu_SCardEstablishContext");
LONG SCardReleaseContext(SCARDCONTEXT context)
    __asm__("kazasu_SCardReleaseContext");
LONG SCardCancel(SCARDCONTEXT context)
    __asm__("kazasu_SCardCancel");
LONG SCardListReaders(SCARDCONTEXT context, const char *groups, char *readers, DWORD *length)
    __asm__("kazasu_SCardListReaders");
LONG SCardGetStatusChange(SCARDCONTEXT context, DWORD timeout, SCARD_READERSTATE *states, DWORD count)
    __asm__("kazasu_SCardGetStatusChange");
LONG SCardConnect(SCARDCONTEXT context, const char *reader, DWORD mode, DWORD protocols, SCARDHANDLE *card,
                  DWORD *protocol)
    __asm__("kazasu_SCardConnect");
LONG SCardReconnect(SCARDHANDLE card, DWORD mode, DWORD protocols, DWORD initialization, DWORD *protocol)
    __asm__("kazasu_SCardReconnect");
LONG SCardDisconnect(SCARDHANDLE card, DWORD disposition)
    __asm__("kazasu_SCardDisconnect");
LONG SCardTransmit(SCARDHANDLE card, const SCARD_IO_REQUEST *send, const unsigned char *command, DWORD length,
                   SCARD_IO_REQUEST *receive, unsigned char *answer, DWORD *answerLength)
    __asm__("kazasu_SCardTransmit");
LONG SCardControl(SCARDHANDLE card, DWORD code, const void *command, DWORD length, void *answer, DWORD room,
                  DWORD *answerLength)
    __asm__("kazasu_SCardControl");
LONG SCardGetAttrib(SCARDHANDLE card, DWORD attribute, unsigned char *value, DWORD *length)
    __asm__("kazasu_SCardGetAttrib");

#endif
