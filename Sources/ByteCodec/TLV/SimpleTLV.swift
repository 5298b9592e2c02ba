// SPDX-License-Identifier: Apache-2.0

/// A data object of SIMPLE-TLV (ISO/IEC 7816-4 §5.2.1): a tag of one byte, 01 to FE, and a length of one byte or of FF
/// and two bytes.
package struct SimpleTLV: Hashable, Sendable {
    /// The tag, 01 to FE.
    package var tag: UInt8
    /// The value, up to 65,535 bytes.
    package var value: [UInt8]

    /// An object with this value.
    package init(_ tag: UInt8, _ value: [UInt8]) {
        self.tag = tag
        self.value = value
    }

    /// Tag, length and value; a value that is too long is cut.
    package var encoded: [UInt8] {
        let value = value.prefix(0xFFFF)
        let length = UInt16(clamping: value.count)
        let low = UInt8(truncatingIfNeeded: length)
        return (length < 0xFF ? [tag, low] : [tag, 0xFF, UInt8(truncatingIfNeeded: length >> 8), low]) + value
    }

    /// Reads objects that follow each other.
    ///
    /// - Throws: ``TLVError``.
    package static func list(_ bytes: some Collection<UInt8>) throws(TLVError) -> [SimpleTLV] {
        var objects: [SimpleTLV] = []
        var rest = Array(bytes)[...]
        while let tag = rest.first {
            let offset = rest.startIndex
            guard tag != 0x00, tag != 0xFF else { throw TLVError(offset: offset, reason: .invalidTag) }
            let header = Array(rest.prefix(4))
            guard let short = header.element(at: 1) else { throw TLVError(offset: offset, reason: .truncatedLength) }
            var (length, size) = (Int(short), 2)
            if short == 0xFF {
                guard let high = header.element(at: 2), let low = header.element(at: 3) else {
                    throw TLVError(offset: offset, reason: .truncatedLength)
                }
                (length, size) = (Int(high) << 8 | Int(low), 4)
            }
            let missing = size + length - rest.count
            guard missing <= 0 else { throw TLVError(offset: offset, reason: .truncatedValue(missing: missing)) }
            objects.append(SimpleTLV(tag, Array(rest.dropFirst(size).prefix(length))))
            rest = rest.dropFirst(size + length)
        }
        return objects
    }
}

/// A data object of COMPACT-TLV, as in historical bytes (ISO/IEC 7816-4 §12.1.1): tag and length share a byte.
package struct CompactTLV: Hashable, Sendable {
    /// The tag, 0 to 15: 4X in the interindustry notation.
    package var tag: UInt8
    /// The value, up to 15 bytes.
    package var value: [UInt8]

    /// An object with this value.
    package init(_ tag: UInt8, _ value: [UInt8]) {
        self.tag = tag
        self.value = value
    }

    /// Tag and length, and the value; of a tag the low four bits count, a value that is too long is cut.
    package var encoded: [UInt8] {
        let value = value.prefix(15)
        return [tag << 4 | UInt8(truncatingIfNeeded: value.count)] + value
    }

    /// Reads objects that follow each other.
    ///
    /// - Throws: ``TLVError``.
    package static func list(_ bytes: some Collection<UInt8>) throws(TLVError) -> [CompactTLV] {
        var objects: [CompactTLV] = []
        var rest = Array(bytes)[...]
        while let lead = rest.first {
            let length = Int(lead & 0x0F)
            let missing = length + 1 - rest.count
            guard missing <= 0 else {
                throw TLVError(offset: rest.startIndex, reason: .truncatedValue(missing: missing))
            }
            objects.append(CompactTLV(lead >> 4, Array(rest.dropFirst().prefix(length))))
            rest = rest.dropFirst(length + 1)
        }
        return objects
    }
}
