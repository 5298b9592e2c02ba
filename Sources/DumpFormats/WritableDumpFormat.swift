// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// A format that Kazasu writes as well as reads.
public protocol WritableDumpFormat: DumpFormat {
    /// A file with one card; ends with a line end.
    ///
    /// No block is lost: what the format cannot hold is an error. What else is lost is listed in `Docs/formats.md`.
    ///
    /// - Throws: ``DumpWritingError``.
    func write(_ dump: CardDump) throws(DumpWritingError) -> [UInt8]
}
