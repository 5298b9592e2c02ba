// SPDX-License-Identifier: Apache-2.0

/// A BER-TLV template that consists of exactly the expected objects, in their order.
///
/// For data whose order, tags or lengths no signature covers: anything else in it could be a forger's.
package struct BERTemplate: Hashable, Sendable {
    /// An object of the template.
    private struct Part: Hashable {
        let tag: BERTag
        /// Where it begins, counted from the first byte of the template's own tag.
        let offset: Int
        /// With tag and length, as they were written.
        let whole: [UInt8]
        let value: [UInt8]
    }

    private let parts: [Part]

    /// Parses a template at the start of `bytes`.
    ///
    /// - Parameters:
    ///   - tag: of the template.
    ///   - tags: of the objects in it, all different.
    /// - Returns: `nil` if the objects are not these, do not fill the template, or if anything but 00 or FF follows it.
    package init?(_ bytes: some Collection<UInt8>, _ tag: BERTag, containing tags: [BERTag]) {
        let bytes = Array(bytes)
        guard let outer = try? BERHeader(bytes), outer.tag == tag, outer.totalLength <= bytes.count,
            bytes[outer.totalLength...].allSatisfy({ $0 == 0x00 || $0 == 0xFF })
        else { return nil }
        var rest = bytes[outer.size..<outer.totalLength]
        var parts: [Part] = []
        for tag in tags {
            guard let header = try? BERHeader(rest), header.tag == tag, header.totalLength <= rest.count else {
                return nil
            }
            let whole = Array(rest.prefix(header.totalLength))
            parts.append(
                Part(tag: tag, offset: rest.startIndex, whole: whole, value: Array(whole.dropFirst(header.size))))
            rest = rest.dropFirst(header.totalLength)
        }
        guard rest.isEmpty else { return nil }
        self.parts = parts
    }

    /// The value of an object; empty for a tag that is not expected.
    package func value(of tag: BERTag) -> [UInt8] { parts.first { $0.tag == tag }?.value ?? [] }

    /// These objects one after another, with their tags and lengths.
    package func bytes(of tags: BERTag...) -> [UInt8] {
        parts.filter { tags.contains($0.tag) }.flatMap(\.whole)
    }

    /// Whether a value is the table of the offsets of all objects but the first, two bytes each, big-endian.
    package func isTableOfOffsets(_ value: [UInt8]) -> Bool {
        let expected = parts.dropFirst().flatMap { part in
            [UInt8(truncatingIfNeeded: part.offset >> 8), UInt8(truncatingIfNeeded: part.offset)]
        }
        return value == expected
    }
}
