// SPDX-License-Identifier: Apache-2.0

internal import CardModel

extension CommandAPDU {
    /// Returns READ RECORD (ISO/IEC 7816-4 §11.4.3) of one record.
    ///
    /// - Parameters:
    ///   - number: the record, 1 to 254.
    ///   - shortFileIdentifier: the EF, 1 to 30; 0 for the current one.
    ///   - count: the number of bytes, 1 to 65,536; 256 means everything in the short form.
    /// - Throws: ``APDUError/offset(_:)`` for a number or file out of range.
    public static func readRecord(
        _ number: Int, shortFileIdentifier: Int = 0, count: Int = 0x100
    ) throws(APDUError) -> CommandAPDU {
        guard (1...0xFE).contains(number) else { throw .offset(number) }
        guard (0...30).contains(shortFileIdentifier) else { throw .offset(shortFileIdentifier) }
        // Bits 3 to 1 of P2: P1 is the number of the record.
        return CommandAPDU(
            .readRecord, p1: UInt8(truncatingIfNeeded: number),
            p2: UInt8(truncatingIfNeeded: shortFileIdentifier) << 3 | 0x04, ne: count)
    }
}

extension ISO7816Session {
    /// Reads a record of an EF with one READ RECORD and returns the answer, whatever its status word.
    ///
    /// ``StatusWord`` 6A83 means that there is no such record.
    ///
    /// - Parameters:
    ///   - number: the record, 1 to 254.
    ///   - shortFileIdentifier: the EF, 1 to 30, which becomes the current one; 0 for the current one.
    /// - Throws: ``ISO7816Error``, but never ``ISO7816Error/status(_:_:)``.
    public func readRecord(_ number: Int, shortFileIdentifier: Int = 0) throws(ISO7816Error) -> ResponseAPDU {
        try transmit(
            try made { () throws(APDUError) in
                try .readRecord(number, shortFileIdentifier: shortFileIdentifier, count: limits.longestExpected)
            })
    }
}
