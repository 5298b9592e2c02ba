// SPDX-License-Identifier: Apache-2.0

/// A data object of BER-TLV as ISO/IEC 7816-4 §5.2.2 has it.
///
/// The value is kept as it came; what is inside a constructed object is read when it is asked for, so nesting costs
/// nothing until then.
public struct BERTLV: Hashable, Sendable {
    /// How deep strict reading goes.
    public static let deepestNesting = 16

    /// The tag.
    public var tag: BERTag
    /// The value, without tag and length.
    public var value: [UInt8]

    /// An object with this value.
    public init(_ tag: BERTag, _ value: [UInt8]) {
        self.tag = tag
        self.value = value
    }

    /// An object made of objects.
    public init(_ tag: BERTag, _ children: [BERTLV]) {
        self.init(tag, children.flatMap(\.encoded))
    }

    /// Tag, length in as few bytes as it takes, and value.
    public var encoded: [UInt8] { tag.bytes + BERHeader.encoded(length: value.count) + value }

    /// The objects that the value is made of, or `nil` when it is none of objects: then the value is all there is.
    public var children: [BERTLV]? {
        guard tag.isConstructed else { return nil }
        let list = BERTLVList(tolerant: value)
        return list.fault == nil ? list.objects : nil
    }

    /// The first object with a tag within this one, one level down.
    public subscript(tag: BERTag) -> BERTLV? {
        children?.first { $0.tag == tag }
    }

    /// Reads objects that follow each other without anything between them, every form as the standard asks for it, and
    /// what is inside of them the same way.
    ///
    /// - Throws: ``TLVFault``.
    public static func strict(_ bytes: some Collection<UInt8>) throws(TLVFault) -> [BERTLV] {
        try strict(Array(bytes), depth: 1)
    }

    private static func strict(_ bytes: [UInt8], depth: Int) throws(TLVFault) -> [BERTLV] {
        var objects: [BERTLV] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let offset = rest.startIndex
            let (object, header) = try BERTLV.first(of: rest)
            guard header.isStrict else { throw TLVFault(offset: offset, reason: .lengthNotMinimal) }
            if object.tag.isConstructed {
                guard depth < deepestNesting else { throw TLVFault(offset: offset, reason: .tooDeep) }
                do throws(TLVFault) {
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
    static func first(of bytes: ArraySlice<UInt8>) throws(TLVFault) -> (BERTLV, BERHeader) {
        let offset = bytes.startIndex
        do throws(TLVFault) {
            let header = try BERHeader(bytes)
            let missing = header.length - (bytes.count - header.size)
            guard missing <= 0 else { throw TLVFault(offset: 0, reason: .truncatedValue(missing: missing)) }
            return (BERTLV(header.tag, Array(bytes.dropFirst(header.size).prefix(header.length))), header)
        } catch {
            throw error.moved(by: offset)
        }
    }
}
