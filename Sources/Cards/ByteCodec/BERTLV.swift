// SPDX-License-Identifier: Apache-2.0

/// A BER-TLV data object as defined in ISO/IEC 7816-4 §5.2.2.
///
/// The value is kept unparsed; the contents of a constructed object are parsed on demand, so nesting costs nothing
/// until then.
package struct BERTLV: Hashable, Sendable {
    package var tag: BERTag
    /// The value, without tag and length.
    package var value: [UInt8]

    package init(_ tag: BERTag, _ value: [UInt8]) {
        self.tag = tag
        self.value = value
    }

    package init(_ tag: BERTag, _ children: [BERTLV]) {
        self.init(tag, children.flatMap(\.encoded))
    }

    /// The tag, the length in the fewest bytes, and the value.
    package var encoded: [UInt8] { tag.bytes + BERHeader.encoded(length: value.count) + value }

    /// The objects in the value, or `nil` when the value is not made of objects.
    package var children: [BERTLV]? {
        guard tag.isConstructed else { return nil }
        let list = BERTLVList(tolerant: value)
        return list.fault == nil ? list.objects : nil
    }

    /// The first object with a tag in this one, one level down.
    package subscript(tag: BERTag) -> BERTLV? {
        children?.first { $0.tag == tag }
    }

    /// Parses the object at the start of `bytes`; offsets count from index 0 of the collection they are a slice of.
    static func first(of bytes: ArraySlice<UInt8>) throws(TLVError) -> (BERTLV, BERHeader) {
        let offset = bytes.startIndex
        do throws(TLVError) {
            let header = try BERHeader(bytes)
            let missing = header.length - (bytes.count - header.size)
            guard missing <= 0 else { throw TLVError(offset: 0, reason: .truncatedValue(missing: missing)) }
            return (BERTLV(header.tag, Array(bytes.dropFirst(header.size).prefix(header.length))), header)
        } catch {
            throw error.moved(by: offset)
        }
    }
}

/// Data objects parsed leniently, up to the first malformed one.
package struct BERTLVList: Hashable, Sendable {
    /// The objects before the first malformed one, in order.
    package let objects: [BERTLV]
    /// The error in the first malformed one; `nil` when everything was parsed.
    package let fault: TLVError?

    /// Parses objects as stored on cards.
    ///
    /// Accepts 00 between them, 00 or FF up to the end, and lengths in more bytes than needed.
    package init(tolerant bytes: some Collection<UInt8>) {
        var objects: [BERTLV] = []
        let bytes = Array(bytes)
        // The rest is padding. FF is also the first byte of tags such as FF20.
        let end = (bytes.lastIndex { $0 != 0x00 && $0 != 0xFF } ?? -1) + 1
        var rest = bytes[...]
        while let first = rest.first {
            if first == 0x00 {
                rest = rest.dropFirst()
                continue
            }
            if first == 0xFF, rest.startIndex >= end { break }
            do throws(TLVError) {
                let (object, header) = try BERTLV.first(of: rest)
                objects.append(object)
                rest = rest.dropFirst(header.totalLength)
            } catch {
                self.objects = objects
                fault = error
                return
            }
        }
        self.objects = objects
        fault = nil
    }

    /// The first object with a tag.
    package subscript(tag: BERTag) -> BERTLV? {
        objects.first { $0.tag == tag }
    }
}

/// A BER-TLV tag (ISO/IEC 7816-4 §5.2.2.1): one to three bytes.
package struct BERTag: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The bytes of the tag as one big-endian number: `0x6F`, `0x5F40`, `0x7F49`.
    package let rawValue: UInt32

    /// Creates a tag from its bytes as one big-endian number.
    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Creates a tag from its bytes as one big-endian number.
    package init(integerLiteral value: UInt32) {
        rawValue = value
    }

    /// The bytes as on the wire, one to four.
    package var bytes: [UInt8] {
        let all = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rawValue >> UInt32($0)) }
        return Array(all.dropLast().drop { $0 == 0 }) + all.suffix(1)
    }

    /// Whether the value consists of objects (bit 6 of the first byte).
    package var isConstructed: Bool { bytes.first.map { $0 & 0x20 != 0 } ?? false }

    /// The class: 0 universal, 1 application, 2 context-specific, 3 private.
    package var tagClass: UInt8 { bytes.first.map { $0 >> 6 } ?? 0 }
}

extension BERTag: CustomStringConvertible {
    /// The tag in upper-case hexadecimal digits.
    package var description: String { Hex.encode(bytes, uppercase: true) }
}

/// The tag and length of a BER-TLV data object, which give its size before all of it is read.
package struct BERHeader: Hashable, Sendable {
    package let tag: BERTag
    /// The length of the value in bytes.
    package let length: Int
    /// The size of tag and length in bytes.
    package let size: Int
    /// The size of the whole object in bytes.
    package var totalLength: Int { size &+ length }

    /// Parses tag and length at the start of `bytes`; the value can be missing.
    ///
    /// - Throws: ``TLVError`` with offset 0.
    package init(_ bytes: some Sequence<UInt8>) throws(TLVError) {
        var rest = bytes.makeIterator()
        var read = 0
        func next(_ reason: TLVError.Reason) throws(TLVError) -> UInt8 {
            guard let byte = rest.next() else { throw TLVError(offset: 0, reason: reason) }
            read += 1
            return byte
        }
        let first = try next(.truncatedTag)
        guard first != 0 else { throw TLVError(offset: 0, reason: .invalidTag) }
        var number = UInt32(first)
        if first & 0x1F == 0x1F {
            var byte = try next(.truncatedTag)
            // A number that would fit in the first byte is accepted: payment cards have the tag BF0C.
            number = number << 8 | UInt32(byte)
            while byte & 0x80 != 0 {
                guard read < 3 else { throw TLVError(offset: 0, reason: .invalidTag) }
                byte = try next(.truncatedTag)
                number = number << 8 | UInt32(byte)
            }
        }
        let lead = try next(.truncatedLength)
        var length = Int(lead)
        switch lead {
        case 0..<0x80: break
        case 0x80: throw TLVError(offset: 0, reason: .indefiniteLength)
        case 0x81...0x84:
            length = 0
            for _ in 0..<(lead & 0x0F) { length = length << 8 | Int(try next(.truncatedLength)) }
        default: throw TLVError(offset: 0, reason: .invalidLength)
        }
        self.tag = BERTag(rawValue: number)
        self.length = length
        size = read
    }

    /// Encodes a length in the fewest bytes; it is truncated above 32 bits.
    static func encoded(length: Int) -> [UInt8] {
        let length = UInt32(clamping: length)
        guard length >= 0x80 else { return [UInt8(truncatingIfNeeded: length)] }
        let digits = [24, 16, 8, 0].map { (shift: UInt32) in UInt8(truncatingIfNeeded: length >> shift) }
        let bytes = digits.drop { $0 == 0 }
        return [0x80 | UInt8(truncatingIfNeeded: bytes.count)] + bytes
    }
}

/// Why bytes are not data objects, and where.
package struct TLVError: Error, Hashable, Sendable {
    /// The offset of the malformed object from the first input byte.
    package let offset: Int
    /// The problem.
    package let reason: Reason

    /// A problem with a data object.
    @nonexhaustive
    package enum Reason: Hashable, Sendable {
        /// The bytes end within the tag.
        case truncatedTag
        /// A tag that the standard does not allow: 00, or one of more than three bytes.
        case invalidTag
        /// The bytes end within the length.
        case truncatedLength
        /// Length byte 80, which ISO/IEC 7816-4 does not allow.
        case indefiniteLength
        /// A length byte of 85 or more.
        case invalidLength
        /// The length exceeds the available bytes by `missing`.
        case truncatedValue(missing: Int)
    }

    package init(offset: Int, reason: Reason) {
        self.offset = offset
        self.reason = reason
    }

    /// Returns the same error for bytes that begin `distance` later.
    func moved(by distance: Int) -> TLVError {
        TLVError(offset: offset &+ distance, reason: reason)
    }
}
