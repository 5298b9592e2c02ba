// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The items of a file of a licence, by the card's own rules, which only look like BER: 1F, 5F, 7F and 9F are tags of
/// one byte here, lengths of 128 and more are `82 hi lo`, and FF in place of a tag ends the items.
///
/// Sources: the layouts in libjeid's application, TRETJapanNFCReader and soft-studio's reader; that 5F is a tag of two
/// bytes in the photo alone follows from the sizes of the files, and so does that tags from 0100 on have two bytes.
public struct LicenseRecordList: Hashable, Sendable {
    /// The items in the card's order.
    public private(set) var records: [LicenseRecord] = []
    /// What is wrong with the bytes.
    public private(set) var faults: [LicenseFault] = []

    private let file: LicenseFile

    /// The items of a file; what follows a broken item is not guessed at.
    public init(_ bytes: [UInt8], of file: LicenseFile) {
        self.file = file
        var reader = ByteReader(bytes)
        while reader.remaining > 0 {
            do {
                guard let record = try next(&reader) else { return }
                records.append(record)
            } catch {
                faults.append(error)
                return
            }
        }
    }

    private func next(_ reader: inout ByteReader) throws(LicenseFault) -> LicenseRecord? {
        let start = reader.offset
        guard let tag = tag(&reader) else { return nil }
        func fault(_ reason: LicenseFault.Reason) -> LicenseFault {
            LicenseFault(file: file, tag: tag, offset: start, reason: reason)
        }
        guard let first = try? reader.readUInt8() else { throw fault(.lengthMissing) }
        let length: Int
        switch first {
        case 0...0x7F: length = Int(first)
        case 0x81:
            guard let byte = try? reader.readUInt8() else { throw fault(.lengthMissing) }
            length = Int(byte)
        case 0x82:
            guard let bytes = try? reader.readUInt16(.big) else { throw fault(.lengthMissing) }
            length = Int(bytes)
        default: throw fault(.lengthForm(first))
        }
        guard let value = try? reader.readBytes(length) else {
            throw fault(.pastEnd(length: length, left: reader.remaining))
        }
        return LicenseRecord(tag: tag, offset: start, value: Array(value))
    }

    /// The tag, or `nil` at the end of the items.
    private func tag(_ reader: inout ByteReader) -> LicenseTag? {
        guard let first = try? reader.readUInt8() else { return nil }
        var ahead = reader
        let second = try? ahead.readUInt8()
        switch first {
        case 0xFF where file != .myNumberMatters || second == nil || second == 0xFF: return nil
        case 0x5F where file == .photo && second == 0x40, 0x01 where file.isOnMyNumberCard && second != nil:
            reader = ahead
            return LicenseTag(rawValue: UInt16(first) << 8 | UInt16(second ?? 0))
        default: return LicenseTag(rawValue: UInt16(first))
        }
    }
}
