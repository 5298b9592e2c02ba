// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

extension CommandAPDU {
    /// The highest offset that READ and UPDATE BINARY can encode in P1 P2.
    package static let highestBinaryOffset = 0x7FFF

    /// Returns READ BINARY (ISO/IEC 7816-4 §11.3.3) of the current EF.
    ///
    /// - Parameters:
    ///   - offset: the first byte, 0 to 32,767.
    ///   - count: the number of bytes, 1 to 65,536; up to 256 are requested in the short form, where 256 means
    ///     everything available.
    /// - Throws: ``APDUError/offset(_:)``.
    public static func readBinary(offset: Int, count: Int) throws(APDUError) -> CommandAPDU {
        let (p1, p2) = try offset15(offset)
        return CommandAPDU(.readBinary, p1: p1, p2: p2, ne: count)
    }

    /// Returns READ BINARY of the current EF with the odd instruction B1, whose offset is a data object: for data after
    /// byte 32,767.
    ///
    /// The answer is a data object 53 that contains the bytes.
    ///
    /// - Parameters:
    ///   - offset: the first byte, 0 to 4,294,967,295.
    ///   - count: the number of answer bytes, including the data object's tag and length.
    /// - Throws: ``APDUError/offset(_:)``.
    public static func readBinary(farOffset offset: Int, count: Int) throws(APDUError) -> CommandAPDU {
        guard let number = UInt32(exactly: offset) else { throw .offset(offset) }
        let digits = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
        let short = Array(digits.dropLast(2).drop { $0 == 0 } + digits.suffix(2))
        return CommandAPDU(.readBinaryWithOffsetObject, data: BERTLV(0x54, short).encoded, ne: count)
    }

    /// Returns P1 and P2 for a 15-bit offset.
    static func offset15(_ offset: Int) throws(APDUError) -> (UInt8, UInt8) {
        guard (0...highestBinaryOffset).contains(offset) else { throw .offset(offset) }
        return (UInt8(truncatingIfNeeded: offset >> 8), UInt8(truncatingIfNeeded: offset))
    }
}

extension ISO7816Session {
    /// Reads bytes of the current EF with one READ BINARY and returns the answer, whatever its status word.
    ///
    /// Offsets above 32,767 use the odd instruction; its data object is removed from the answer. ``readFile(limit:)`` reads
    /// a whole file.
    ///
    /// - Parameters:
    ///   - offset: the first byte.
    ///   - count: the number of bytes, 1 to 256, or to 65,536 if the limits allow extended lengths.
    /// - Throws: ``ISO7816Error``.
    public func readBinary(offset: Int, count: Int) throws(ISO7816Error) -> ResponseAPDU {
        guard offset > CommandAPDU.highestBinaryOffset else {
            return try transmit(try made { () throws(APDUError) in try .readBinary(offset: offset, count: count) })
        }
        // The object's tag and length take two bytes, or three from 128 on; the answer must still fit.
        let room = min(count, limits.longestExpected - 3)
        let ne = room + (room < 0x80 ? 2 : 3)
        var response = try transmit(try made { () throws(APDUError) in try .readBinary(farOffset: offset, count: ne) })
        guard !response.data.isEmpty else { return response }
        guard let object = BERTLVList(tolerant: response.data).objects.first, [0x53, 0x73].contains(object.tag) else {
            throw .malformed(.readBinaryWithOffsetObject, .notADataObject)
        }
        response.data = object.value
        return response
    }

    /// Makes a command whose arguments are checked when it is created.
    func made(_ command: () throws(APDUError) -> CommandAPDU) throws(ISO7816Error) -> CommandAPDU {
        do throws(APDUError) {
            return try command()
        } catch {
            throw .invalidCommand(error)
        }
    }
}

extension CommandAPDU {
    /// Returns UPDATE BINARY (ISO/IEC 7816-4 §11.3.5) of the current EF.
    ///
    /// - Parameters:
    ///   - offset: the first byte, 0 to 32,767.
    ///   - data: the bytes, at least one; more than 255 are sent in a chain or extended.
    /// - Throws: ``APDUError/offset(_:)``, ``APDUError/count(_:)``.
    public static func updateBinary(offset: Int, data: [UInt8]) throws(APDUError) -> CommandAPDU {
        let (p1, p2) = try offset15(offset)
        guard !data.isEmpty else { throw .count(0) }
        return CommandAPDU(.updateBinary, p1: p1, p2: p2, data: data)
    }
}

extension ISO7816Session {
    /// Writes bytes into the current EF, in as many commands as necessary; nothing is read back.
    ///
    /// - Parameters:
    ///   - offset: the first byte; all bytes must be below 32,768.
    ///   - data: the bytes.
    ///   - bytesPerCommand: the maximum for one command; by default what the reader can send.
    /// - Throws: ``ISO7816Error``; what earlier commands wrote stays written.
    public func updateBinary(
        offset: Int, data: [UInt8], bytesPerCommand: Int? = nil
    ) throws(ISO7816Error) {
        let step = max(1, min(bytesPerCommand ?? limits.longestData, limits.longestData))
        var rest = data[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(step))
            let place = offset &+ rest.startIndex
            try self.data(try made { () throws(APDUError) in try .updateBinary(offset: place, data: part) })
            rest = rest.dropFirst(step)
        }
    }
}
