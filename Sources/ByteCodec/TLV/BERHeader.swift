// SPDX-License-Identifier: Apache-2.0

/// Tag and length of a BER-TLV data object: enough to know how long it is before all of it is read.
public struct BERHeader: Hashable, Sendable {
    /// The tag.
    public let tag: BERTag
    /// How many bytes the value has.
    public let length: Int
    /// How many bytes tag and length take.
    public let size: Int
    /// Whether tag and length have the form that the standard asks for; other forms occur and can be read.
    public let isStrict: Bool

    /// How many bytes the whole object takes.
    public var totalLength: Int { size &+ length }

    /// Reads tag and length at the start of `bytes`; the value need not be there.
    ///
    /// - Throws: ``TLVFault`` with offset 0.
    public init(_ bytes: some Sequence<UInt8>) throws(TLVFault) {
        var rest = bytes.makeIterator()
        var read = 0
        func next(_ reason: TLVFault.Reason) throws(TLVFault) -> UInt8 {
            guard let byte = rest.next() else { throw TLVFault(offset: 0, reason: reason) }
            read += 1
            return byte
        }
        let first = try next(.truncatedTag)
        guard first != 0 else { throw TLVFault(offset: 0, reason: .invalidTag) }
        var number = UInt32(first)
        var isStrict = true
        if first & 0x1F == 0x1F {
            var byte = try next(.truncatedTag)
            // A number does not begin with seven zero bits. That it fits in the first byte is no fault: payment cards
            // have the tag BF0C.
            isStrict = byte != 0x80
            number = number << 8 | UInt32(byte)
            while byte & 0x80 != 0 {
                guard read < 3 else { throw TLVFault(offset: 0, reason: .invalidTag) }
                byte = try next(.truncatedTag)
                number = number << 8 | UInt32(byte)
            }
        }
        let lead = try next(.truncatedLength)
        var length = Int(lead)
        switch lead {
        case 0..<0x80: break
        case 0x80: throw TLVFault(offset: 0, reason: .indefiniteLength)
        case 0x81...0x84:
            length = 0
            for _ in 0..<(lead & 0x0F) { length = length << 8 | Int(try next(.truncatedLength)) }
            isStrict = isStrict && length >= BERHeader.smallest(in: lead & 0x0F)
        default: throw TLVFault(offset: 0, reason: .invalidLength)
        }
        self.tag = BERTag(rawValue: number)
        self.length = length
        self.isStrict = isStrict
        size = read
    }

    /// The smallest length that needs so many bytes after the first.
    private static func smallest(in bytes: UInt8) -> Int {
        bytes == 1 ? 0x80 : 1 << (8 * (Int(bytes) - 1))
    }

    /// A length in as few bytes as it can be written in; above 32 bits it is cut.
    static func encoded(length: Int) -> [UInt8] {
        let length = UInt32(clamping: length)
        guard length >= 0x80 else { return [UInt8(truncatingIfNeeded: length)] }
        let digits = [24, 16, 8, 0].map { (shift: UInt32) in UInt8(truncatingIfNeeded: length >> shift) }
        let bytes = digits.drop { $0 == 0 }
        return [0x80 | UInt8(truncatingIfNeeded: bytes.count)] + bytes
    }
}
