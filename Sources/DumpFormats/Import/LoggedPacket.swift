// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel

/// A FeliCa packet out of a log, LEN byte first; bytes that were masked for privacy (`XX`) are `nil`.
struct LoggedPacket {
    /// The bytes, LEN included.
    let bytes: [UInt8?]
    private let place: JSONCursor

    /// Reads a packet of hexadecimal digits.
    ///
    /// - Throws: ``CardModel/DocumentError`` when it is none, or not as long as its first byte says.
    init(_ json: JSONCursor) throws(DocumentError) {
        place = json
        let digits = Array(try json.text().utf8)
        guard digits.count.isMultiple(of: 2) else { throw json.malformed("a FeliCa packet in hexadecimal") }
        var bytes: [UInt8?] = []
        bytes.reserveCapacity(digits.count / 2)
        for start in stride(from: 0, to: digits.count, by: 2) {
            let pair = (digits[start], digits[start + 1])
            if pair == (0x58, 0x58) {
                bytes.append(nil)
            } else if let high = Hex.value(of: pair.0), let low = Hex.value(of: pair.1) {
                bytes.append(high << 4 | low)
            } else {
                throw json.malformed("a FeliCa packet in hexadecimal")
            }
        }
        guard bytes.count >= 2, let length = bytes[0], Int(length) == bytes.count, bytes[1] != nil else {
            throw json.malformed("a FeliCa packet as long as its first byte says")
        }
        self.bytes = bytes
    }

    /// The code of the command or the response.
    var code: UInt8 { bytes.element(at: 1).flatMap { $0 } ?? 0xFF }

    /// Some bytes, masked or not; fewer when the packet ends before.
    func part(_ start: Int, _ count: Int) -> [UInt8?] { Array(bytes.dropFirst(start).prefix(count)) }

    /// Some bytes; `nil` when one of them was masked or is not there.
    func plain(_ start: Int, _ count: Int) -> [UInt8]? {
        let found = part(start, count).compactMap { $0 }
        return found.count == count ? found : nil
    }

    /// A byte that must be there.
    func byte(_ place: Int) throws(DocumentError) -> UInt8 {
        guard let byte = plain(place, 1)?.first else { throw malformed }
        return byte
    }

    /// A code in the order of the wire, which must be there.
    func wireCode<Code: FourDigitCode>(_ place: Int, _ type: Code.Type = Code.self) throws(DocumentError) -> Code {
        guard let bytes = plain(place, 2), let low = bytes.first, let high = bytes.last else { throw malformed }
        return Code(rawValue: UInt16(high) << 8 | UInt16(low))
    }

    /// The packet is too short for what it must hold, or that was masked.
    var malformed: DocumentError { place.malformed("a whole FeliCa packet") }

    /// The packet does not fit the command before it.
    var misplaced: DocumentError { place.malformed("the answer to the command before it") }
}
