/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KAZASU_CPCSC_SHIM_H
#define KAZASU_CPCSC_SHIM_H

/*
 * The part of libpcsclite that Kazasu calls, declared as winscard.h and pcsclite.h of pcsc-lite declare it on Linux.
 *
 * The headers themselves include each other by names that only the flags of pkg-config make findable, and these flags
 * hold -pthread, which SwiftPM warns of in every build. The interface is PC/SC's and has not changed since 2007.
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

LONG SCardEstablishContext(DWORD scope, const void *reserved1, const void *reserved2, SCARDCONTEXT *context);
LONG SCardReleaseContext(SCARDCONTEXT context);
LONG SCardCancel(SCARDCONTEXT context);
LONG SCardListReaders(SCARDCONTEXT context, const char *groups, char *readers, DWORD *length);
LONG SCardGetStatusChange(SCARDCONTEXT context, DWORD timeout, SCARD_READERSTATE *states, DWORD count);
LONG SCardConnect(SCARDCONTEXT context, const char *reader, DWORD mode, DWORD protocols, SCARDHANDLE *card,
                  DWORD *protocol);
LONG SCardReconnect(SCARDHANDLE card, DWORD mode, DWORD protocols, DWORD initialization, DWORD *protocol);
LONG SCardDisconnect(SCARDHANDLE card, DWORD disposition);
LONG SCardTransmit(SCARDHANDLE card, const SCARD_IO_REQUEST *send, const unsigned char *command, DWORD length,
                   SCARD_IO_REQUEST *receive, unsigned char *answer, DWORD *answerLength);
LONG SCardGetAttrib(SCARDHANDLE card, DWORD attribute, unsigned char *value, DWORD *length);

#endif
