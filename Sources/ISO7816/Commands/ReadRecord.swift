// SPDX-License-Identifier: Apache-2.0

public import CardModel

extension CommandAPDU {
    /// READ RECORD (ISO/IEC 7816-4 §11.4.3) by number.
    ///
    /// - Parameters:
    ///   - number: the record, 1 to 254; 0 is the current one.
    ///   - file: an EF of the current DF, which becomes the current one; `nil` for the current EF.
    ///   - andFollowing: all records from this one to the last.
    ///   - count: how many bytes, 256 being all there is.
    public static func readRecord(
        _ number: UInt8, file: ShortFileIdentifier? = nil, andFollowing: Bool = false, count: Int = 0x100
    ) -> CommandAPDU {
        CommandAPDU(
            .readRecord, p1: number, p2: (file?.rawValue ?? 0) << 3 | (andFollowing ? 0x05 : 0x04), ne: count)
    }
}

extension ISO7816Session {
    /// Reads one record, or all from one on.
    ///
    /// - Parameters:
    ///   - number: the record, 1 to 254; 0 is the current one.
    ///   - file: an EF of the current DF; `nil` for the current EF.
    ///   - andFollowing: all records from this one to the last.
    /// - Throws: ``ISO7816Error``; `6A83` when there is no such record.
    public func readRecord(
        _ number: UInt8, file: ShortFileIdentifier? = nil, andFollowing: Bool = false
    ) throws(ISO7816Error) -> [UInt8] {
        try data(
            .readRecord(number, file: file, andFollowing: andFollowing, count: limits.longestExpected))
    }

    /// Reads the records of an EF one after another, from 1 on, until the card says that there is none.
    ///
    /// - Parameter file: an EF of the current DF; `nil` for the current EF.
    /// - Throws: ``ISO7816Error``; only the status word `6A83` ends the list without an error.
    public func readRecords(file: ShortFileIdentifier? = nil) throws(ISO7816Error) -> [[UInt8]] {
        var records: [[UInt8]] = []
        for number: UInt8 in 1...254 {
            do {
                records.append(try readRecord(number, file: file))
            } catch .status(_, .recordNotFound) {
                break
            }
        }
        return records
    }
}
