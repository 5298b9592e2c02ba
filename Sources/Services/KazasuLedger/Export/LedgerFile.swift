// SPDX-License-Identifier: Apache-2.0

/// An export as a whole.
public struct LedgerFile: Sendable {
    /// The bytes of the file, in the character set of its format.
    public let data: [UInt8]
    /// What it has; once the file is written, ``Ledger/didWrite(_:)`` takes it.
    public let export: LedgerExport
}
