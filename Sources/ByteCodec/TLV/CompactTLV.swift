// SPDX-License-Identifier: Apache-2.0

/// A data object of COMPACT-TLV, as in historical bytes (ISO/IEC 7816-4 §12.1.1): tag and length share a byte.
public struct CompactTLV: Hashable, Sendable {
    /// The tag, 0 to 15: 4X in the interindustry notation.
    public var tag: UInt8
    /// The value, up to 15 bytes.
    public var value: [UInt8]

    /// An object with this value.
    public init(_ tag: UInt8, _ value: [UInt8]) {
        self.tag = tag
        self.value = value
    }

    /// Tag and length, and the value; of a tag the low four bits count, a value that is too long is cut.
    public var encoded: [UInt8] {
        let value = value.prefix(15)
        return [tag << 4 | UInt8(truncatingIfNeeded: value.count)] + value
    }

    /// Reads objects that follow each other.
    ///
    /// - Throws: ``TLVFault``.
    public static func list(_ bytes: some Collection<UInt8>) throws(TLVFault) -> [CompactTLV] {
        var objects: [CompactTLV] = []
        var rest = Array(bytes)[...]
        while let lead = rest.first {
            let length = Int(lead & 0x0F)
            let missing = length + 1 - rest.count
            guard missing <= 0 else {
                throw TLVFault(offset: rest.startIndex, reason: .truncatedValue(missing: missing))
            }
            objects.append(CompactTLV(lead >> 4, Array(rest.dropFirst().prefix(length))))
            rest = rest.dropFirst(length + 1)
        }
        return objects
    }
}
