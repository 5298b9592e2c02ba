// SPDX-License-Identifier: Apache-2.0

// The events of cards and the ledger in one import; `LedgerSink` joins them.
@_exported public import KazasuLedger
@_exported public import KazasuTaps
