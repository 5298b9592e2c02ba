// SPDX-License-Identifier: Apache-2.0

public import ByteCodec
public import CardModel

/// The historical bytes of an ATS or ATR (ISO/IEC 7816-4 §12.1.1): what a card tells of itself before it is asked.
public struct HistoricalBytes: Hashable, Sendable {
    /// All of them as they came.
    public let bytes: [UInt8]
    /// The category indicator, the first byte: 00 and 80 say that data objects follow; others are the maker's own.
    public let category: UInt8?
    /// The data objects in COMPACT-TLV, up to the first that is broken; none in a category that has none.
    public let objects: [CompactTLV]
    /// The life cycle status byte, where it stands apart from the objects (category 00) or in object 8.
    public let lifeCycle: UInt8?
    /// The status word in the same places.
    public let status: StatusWord?

    /// Reads historical bytes; every sequence is some.
    public init(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        self.bytes = bytes
        category = bytes.first
        var body = bytes.dropFirst()
        var trailer: [UInt8] = []
        switch category {
        case 0x00:
            trailer = Array(body.suffix(3))
            body = body.dropLast(3)
        case 0x80: break
        default: body = []
        }
        objects = HistoricalBytes.objects(body)
        if category == 0x80, let last = objects.last, last.tag == 8 { trailer = last.value }
        lifeCycle = trailer.count == 1 || trailer.count == 3 ? trailer.first : nil
        let word = trailer.suffix(2)
        status = word.count == 2 ? word.first.flatMap { high in word.last.map { StatusWord(high, $0) } } : nil
    }

    private static func objects(_ body: ArraySlice<UInt8>) -> [CompactTLV] {
        var objects: [CompactTLV] = []
        var rest = body
        while let lead = rest.first, rest.count > Int(lead & 0x0F) {
            objects.append(CompactTLV(lead >> 4, Array(rest.dropFirst().prefix(Int(lead & 0x0F)))))
            rest = rest.dropFirst(Int(lead & 0x0F) + 1)
        }
        return objects
    }

    /// The value of an object: 3 card service data, 5 the issuer's own, 6 the maker's, 7 card capabilities.
    public func value(of tag: UInt8) -> [UInt8]? {
        objects.first { $0.tag == tag }?.value
    }

    /// Whether the card takes extended Lc and Le, and chaining of commands; `nil` when it does not say (third byte of
    /// the card capabilities).
    public var capabilities: (extendedLength: Bool, chaining: Bool)? {
        value(of: 7)?.element(at: 2).map { ($0 & 0x40 != 0, $0 & 0x80 != 0) }
    }
}
