// SPDX-License-Identifier: Apache-2.0

/// A data object of BER-TLV as ISO/IEC 7816-4 §5.2.2 has it.
///
/// The value is kept as it came; what is inside a constructed object is read when it is asked for, so nesting costs
/// nothing until then.
package struct BERTLV: Hashable, Sendable {
    /// How deep strict reading goes.
    package static let deepestNesting = 16

    /// The tag.
    package var tag: BERTag
    /// The value, without tag and length.
    package var value: [UInt8]

    /// An object with this value.
    package init(_ tag: BERTag, _ value: [UInt8]) {
        self.tag = tag
        self.value = value
    }

    /// An object made of objects.
    package init(_ tag: BERTag, _ children: [BERTLV]) {
        self.init(tag, children.flatMap(\.encoded))
    }

    /// Tag, length in as few bytes as it takes, and value.
    package var encoded: [UInt8] { tag.bytes + BERHeader.encoded(length: value.count) + value }

    /// The objects that the value is made of, or `nil` when it is none of objects: then the value is all there is.
    package var children: [BERTLV]? {
        guard tag.isConstructed else { return nil }
        let list = BERTLVList(tolerant: value)
        return list.fault == nil ? list.objects : nil
    }

    /// The first object with a tag within this one, one level down.
    package subscript(tag: BERTag) -> BERTLV? {
        children?.first { $0.tag == tag }
    }

    /// Reads objects that follow each other without anything between them, every form as the standard asks for it, and
    /// what is inside of them the same way.
    ///
    /// - Throws: ``TLVError``.
    package static func strict(_ bytes: some Collection<UInt8>) throws(TLVError) -> [BERTLV] {
        try strict(Array(bytes), depth: 1)
    }

    private static func strict(_ bytes: [UInt8], depth: Int) throws(TLVError) -> [BERTLV] {
        var objects: [BERTLV] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let offset = rest.startIndex
            let (object, header) = try BERTLV.first(of: rest)
            guard header.isStrict else { throw TLVError(offset: offset, reason: .lengthNotMinimal) }
            if object.tag.isConstructed {
                guard depth < deepestNesting else { throw TLVError(offset: offset, reason: .tooDeep) }
                do throws(TLVError) {
                    _ = try strict(object.value, depth: depth + 1)
                } catch {
                    throw error.moved(by: offset + header.size)
                }
            }
            objects.append(object)
            rest = rest.dropFirst(header.totalLength)
        }
        return objects
    }

    /// The object that `bytes` begin with; offsets count from index 0 of what they are a slice of.
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

/// Data objects read with tolerance, up to the first that is broken.
package struct BERTLVList: Hashable, Sendable {
    /// The objects before the first that is broken, in order.
    package let objects: [BERTLV]
    /// What is wrong with the first broken one; `nil` when all was read.
    package let fault: TLVError?

    /// Reads objects as cards store them: with 00 between them, with 00 or FF up to the end, and with lengths in more
    /// bytes than they need.
    package init(tolerant bytes: some Collection<UInt8>) {
        var objects: [BERTLV] = []
        let bytes = Array(bytes)
        // From here on there is only padding. FF is also the first byte of tags such as FF20.
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

/// A tag of BER-TLV (ISO/IEC 7816-4 §5.2.2.1): one to three bytes.
package struct BERTag: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The bytes of the tag as one big-endian number: `0x6F`, `0x5F40`, `0x7F49`.
    package let rawValue: UInt32

    /// A tag from its bytes as one big-endian number.
    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// A tag from its bytes as one big-endian number.
    package init(integerLiteral value: UInt32) {
        rawValue = value
    }

    /// The bytes as on the wire, one to four.
    package var bytes: [UInt8] {
        let all = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rawValue >> UInt32($0)) }
        return Array(all.dropLast().drop { $0 == 0 }) + all.suffix(1)
    }

    /// Whether the value is made of objects (bit 6 of the first byte).
    package var isConstructed: Bool { bytes.first.map { $0 & 0x20 != 0 } ?? false }

    /// The class: 0 universal, 1 application, 2 context-specific, 3 private.
    package var tagClass: UInt8 { bytes.first.map { $0 >> 6 } ?? 0 }
}

extension BERTag: CustomStringConvertible {
    /// Upper-case hexadecimal digits.
    package var description: String { Hex.encode(bytes, uppercase: true) }
}

/// Tag and length of a BER-TLV data object: enough to know how long it is before all of it is read.
package struct BERHeader: Hashable, Sendable {
    /// The tag.
    package let tag: BERTag
    /// How many bytes the value has.
    package let length: Int
    /// How many bytes tag and length take.
    package let size: Int
    /// Whether tag and length have the form that the standard asks for; other forms occur and can be read.
    package let isStrict: Bool

    /// How many bytes the whole object takes.
    package var totalLength: Int { size &+ length }

    /// Reads tag and length at the start of `bytes`; the value need not be there.
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
        var isStrict = true
        if first & 0x1F == 0x1F {
            var byte = try next(.truncatedTag)
            // A number does not begin with seven zero bits. That it fits in the first byte is no fault: payment cards
            // have the tag BF0C.
            isStrict = byte != 0x80
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
            isStrict = isStrict && length >= BERHeader.smallest(in: lead & 0x0F)
        default: throw TLVError(offset: 0, reason: .invalidLength)
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

/// Why bytes are no data objects, and where.
package struct TLVError: Error, Hashable, Sendable {
    /// Where the object begins that is wrong, counted from the first byte that was given.
    package let offset: Int
    /// What is wrong with it.
    package let reason: Reason

    /// What is wrong with a data object.
    @nonexhaustive
    package enum Reason: Hashable, Sendable {
        /// The bytes end within the tag.
        case truncatedTag
        /// A tag that the standard has no place for: 00, or one of more than three bytes.
        case invalidTag
        /// The bytes end within the length.
        case truncatedLength
        /// Length byte 80, which ISO/IEC 7816-4 does not allow.
        case indefiniteLength
        /// A length byte of 85 or more.
        case invalidLength
        /// The length says `missing` bytes more than there are.
        case truncatedValue(missing: Int)
        /// Strict reading: a length in more bytes than it needs.
        case lengthNotMinimal
        /// Strict reading: objects are nested deeper than ``BERTLV/deepestNesting``.
        case tooDeep
    }

    /// A fault at an offset.
    package init(offset: Int, reason: Reason) {
        self.offset = offset
        self.reason = reason
    }

    /// The same fault in bytes that begin `distance` later.
    func moved(by distance: Int) -> TLVError {
        TLVError(offset: offset &+ distance, reason: reason)
    }
}
