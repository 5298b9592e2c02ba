// SPDX-License-Identifier: Apache-2.0

public import CardModel

extension CommandAPDU {
    /// UPDATE BINARY (ISO/IEC 7816-4 §11.3.5) of the current EF.
    ///
    /// - Parameters:
    ///   - offset: where to begin, 0 to 32,767.
    ///   - data: the bytes, at least one; more than 255 are sent in a chain or extended.
    /// - Throws: ``APDUFlaw/offset(_:)``, ``APDUFlaw/count(_:)``.
    public static func updateBinary(offset: Int, data: [UInt8]) throws(APDUFlaw) -> CommandAPDU {
        let (p1, p2) = try offset15(offset)
        guard !data.isEmpty else { throw .count(0) }
        return CommandAPDU(.updateBinary, p1: p1, p2: p2, data: data)
    }

    /// UPDATE BINARY of an EF of the current DF by its short identifier, which makes it the current one.
    ///
    /// - Parameters:
    ///   - file: the EF.
    ///   - offset: where to begin, 0 to 255.
    ///   - data: the bytes, at least one.
    /// - Throws: ``APDUFlaw/offset(_:)``, ``APDUFlaw/count(_:)``.
    public static func updateBinary(
        _ file: ShortFileIdentifier, offset: Int = 0, data: [UInt8]
    ) throws(APDUFlaw) -> CommandAPDU {
        guard let offset = UInt8(exactly: offset) else { throw .offset(offset) }
        guard !data.isEmpty else { throw .count(0) }
        return CommandAPDU(.updateBinary, p1: 0x80 | file.rawValue, p2: offset, data: data)
    }
}

extension ISO7816Session {
    /// Writes bytes into the current EF, in as many commands as it takes.
    ///
    /// - Parameters:
    ///   - offset: where to begin; all of the bytes must lie below 32,768.
    ///   - data: the bytes.
    ///   - bytesPerCommand: the most that one command carries; what the reader can send by default.
    /// - Throws: ``ISO7816Error``; what earlier commands wrote stays written.
    public func updateBinary(
        offset: Int, data: [UInt8], bytesPerCommand: Int? = nil
    ) throws(ISO7816Error) {
        let step = max(1, min(bytesPerCommand ?? limits.longestData, limits.longestData))
        var rest = data[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(step))
            let place = offset &+ rest.startIndex
            try self.data(try made { () throws(APDUFlaw) in try .updateBinary(offset: place, data: part) })
            rest = rest.dropFirst(step)
        }
    }
}
