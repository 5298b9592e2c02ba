// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

extension CommandAPDU {
    /// The highest offset that READ and UPDATE BINARY can name in P1 P2.
    public static let highestBinaryOffset = 0x7FFF

    /// READ BINARY (ISO/IEC 7816-4 §11.3.3) of the current EF.
    ///
    /// - Parameters:
    ///   - offset: where to begin, 0 to 32,767.
    ///   - count: how many bytes, 1 to 65,536; up to 256 is asked for in the short form, 256 being all there is.
    /// - Throws: ``APDUFlaw/offset(_:)``.
    public static func readBinary(offset: Int, count: Int) throws(APDUFlaw) -> CommandAPDU {
        let (p1, p2) = try offset15(offset)
        return CommandAPDU(.readBinary, p1: p1, p2: p2, ne: count)
    }

    /// READ BINARY of an EF of the current DF by its short identifier, which makes it the current one.
    ///
    /// - Parameters:
    ///   - file: the EF.
    ///   - offset: where to begin, 0 to 255.
    ///   - count: how many bytes, as in ``readBinary(offset:count:)``.
    /// - Throws: ``APDUFlaw/offset(_:)``.
    public static func readBinary(
        _ file: ShortFileIdentifier, offset: Int = 0, count: Int
    ) throws(APDUFlaw) -> CommandAPDU {
        guard let offset = UInt8(exactly: offset) else { throw .offset(offset) }
        return CommandAPDU(.readBinary, p1: 0x80 | file.rawValue, p2: offset, ne: count)
    }

    /// READ BINARY with the odd instruction B1, whose offset is a data object: for what lies behind byte 32,767.
    ///
    /// The answer is a data object 53 around the bytes.
    ///
    /// - Parameters:
    ///   - offset: where to begin, 0 to 4,294,967,295.
    ///   - count: how many bytes of answer, the data object's tag and length included.
    ///   - file: the EF; the current one by default.
    /// - Throws: ``APDUFlaw/offset(_:)``.
    public static func readBinary(
        farOffset offset: Int, count: Int, file: FileIdentifier = FileIdentifier(rawValue: 0)
    ) throws(APDUFlaw) -> CommandAPDU {
        guard let number = UInt32(exactly: offset) else { throw .offset(offset) }
        let digits = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
        let short = Array(digits.dropLast(2).drop { $0 == 0 } + digits.suffix(2))
        return CommandAPDU(
            .readBinaryWithOffsetObject, p1: UInt8(truncatingIfNeeded: file.rawValue >> 8),
            p2: UInt8(truncatingIfNeeded: file.rawValue), data: BERTLV(0x54, short).encoded,
            ne: count)
    }

    /// P1 and P2 of an offset of 15 bits.
    static func offset15(_ offset: Int) throws(APDUFlaw) -> (UInt8, UInt8) {
        guard (0...highestBinaryOffset).contains(offset) else { throw .offset(offset) }
        return (UInt8(truncatingIfNeeded: offset >> 8), UInt8(truncatingIfNeeded: offset))
    }
}

extension ISO7816Session {
    /// Reads bytes of the current EF with one READ BINARY and gives the answer, whatever its status word says.
    ///
    /// Offsets above 32,767 go with the odd instruction, whose data object is taken off the answer.
    ///
    /// - Throws: ``ISO7816Error``.
    public func readBinary(offset: Int, count: Int) throws(ISO7816Error) -> ResponseAPDU {
        guard offset > CommandAPDU.highestBinaryOffset else {
            return try transmit(try made { () throws(APDUFlaw) in try .readBinary(offset: offset, count: count) })
        }
        // The object's tag and length take two bytes, or three from 128 on; the answer must still fit.
        let room = min(count, limits.longestExpected - 3)
        let ne = room + (room < 0x80 ? 2 : 3)
        var response = try transmit(try made { () throws(APDUFlaw) in try .readBinary(farOffset: offset, count: ne) })
        guard !response.data.isEmpty else { return response }
        guard let object = BERTLVList(tolerant: response.data).objects.first, [0x53, 0x73].contains(object.tag) else {
            throw .malformed(.readBinaryWithOffsetObject, .notADataObject)
        }
        response.data = object.value
        return response
    }

    /// Reads bytes of an EF of the current DF by its short identifier, with one READ BINARY, and gives the answer,
    /// whatever its status word says.
    ///
    /// - Throws: ``ISO7816Error``.
    public func readBinary(
        _ file: ShortFileIdentifier, offset: Int = 0, count: Int
    ) throws(ISO7816Error) -> ResponseAPDU {
        try transmit(try made { () throws(APDUFlaw) in try .readBinary(file, offset: offset, count: count) })
    }

    /// A command whose arguments are checked as it is made.
    func made(_ command: () throws(APDUFlaw) -> CommandAPDU) throws(ISO7816Error) -> CommandAPDU {
        do throws(APDUFlaw) {
            return try command()
        } catch {
            throw .invalidCommand(error)
        }
    }
}
