// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// The data objects that a file of a residence card must have: these tags, in this order, with these lengths, and nothing else.
///
/// The signature of the second generation covers values without tags and lengths. A file whose objects are exchanged or cut
/// otherwise would still verify, so any other layout is refused before anything is decoded.
enum ResidenceLayout {
    /// One data object.
    struct Item {
        let tag: BERTag
        /// The lengths that its value may have, in bytes.
        let lengths: ClosedRange<Int>

        init(_ tag: BERTag, _ lengths: ClosedRange<Int>) {
            self.tag = tag
            self.lengths = lengths
        }

        init(_ tag: BERTag, _ length: Int) {
            self.init(tag, length...length)
        }

        /// Signed values are padded to this length.
        var longest: Int { lengths.upperBound }
    }

    static func items(of file: ResidenceFile, on card: ResidenceType) -> [Item] {
        switch file {
        case .version: [Item(0xC0, 4)]
        case .type: [Item(0xC1, card.rawValue.utf8.count)]
        case .number: [Item(0xC2, 12)]
        case .entries: entries(on: card)
        case .front: [Item(0xD0, 0...7000)]
        case .photo: [Item(0xD1, 0...3000)]
        case .nameAndPhoto: [Item(0xD0, 0...2500), Item(0xD1, 0...3000)]
        case .addressPicture: [Item(0xDFD1, 0...2500)]
        case .address: [Item(0xD2, 0...8), Item(0xD3, 0...6), Item(0xD4, 0...320)]
        case .comprehensivePermission: [Item(0xD5, 0...120)]
        case .individualPermission: [Item(0xD6, 0...120)]
        case .pending: [Item(0xD7, 1)]
        case .permissions: [Item(0xD5, 1...7), Item(0xD6, 0...8), Item(0xD7, 1)]
        case .pendingApplication: [Item(0xD8, 1)]
        case .remarks: [Item(0xD9, 1), Item(0xDE, 0...200)]
        case .signature:
            card.generation == 1
                ? [Item(0xDA, 0...256), Item(0xDB, 0...1200)] : [Item(0xDC, 0...104), Item(0xDD, 0...602)]
        }
    }

    /// The printed entries. The period of stay may be three digits.
    private static func entries(on card: ResidenceType) -> [Item] {
        let common = [
            Item(0xC5, 8), Item(0xC6, 8), Item(0xC7, 1), Item(0xC8, 3), Item(0xC9, 10), Item(0xCE, 3...4),
        ]
        let ofResidence = [Item(0xCA, 2), Item(0xCB, 8), Item(0xCC, 1), Item(0xCD, 8)]
        return card.isSpecialPermanent ? common : common + ofResidence
    }

    /// Parses a file; `nil` for any other layout.
    ///
    /// Behind the last object there may be 00 or FF and nothing else.
    static func values(_ bytes: [UInt8], of file: ResidenceFile, on card: ResidenceType) -> [BERTag: [UInt8]]? {
        var values: [BERTag: [UInt8]] = [:]
        var rest = bytes[...]
        for item in items(of: file, on: card) {
            // The tag of the address's picture, DFD1, is two bytes where BER would have it go on: tags are compared, not parsed.
            guard rest.starts(with: item.tag.bytes), let length = length(&rest, item.tag.bytes.count),
                length <= rest.count, item.lengths.contains(length)
            else { return nil }
            values[item.tag] = Array(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        guard rest.allSatisfy({ $0 == 0x00 || $0 == 0xFF }) else { return nil }
        return values
    }

    /// Reads a length behind a tag: one byte, or two or three with 81 or 82. What remains begins with the value.
    private static func length(_ rest: inout ArraySlice<UInt8>, _ tagLength: Int) -> Int? {
        rest = rest.dropFirst(tagLength)
        guard let first = rest.popFirst() else { return nil }
        guard first >= 0x80 else { return Int(first) }
        guard first == 0x81 || first == 0x82, rest.count >= Int(first & 0x0F) else { return nil }
        let digits = rest.prefix(Int(first & 0x0F))
        rest = rest.dropFirst(digits.count)
        return digits.reduce(0) { $0 << 8 | Int($1) }
    }

    /// The values of a file, each padded with 00 to its length, in order: what is signed.
    static func padded(_ values: [BERTag: [UInt8]], of file: ResidenceFile, on card: ResidenceType) -> [[UInt8]] {
        items(of: file, on: card).map { item in
            let value = values[item.tag] ?? []
            return value + [UInt8](repeating: 0, count: max(0, item.longest - value.count))
        }
    }
}

/// What the signature of a residence card is about.
package enum ResidenceSignedContent: Hashable, Sendable {
    /// The bytes that are signed, the signature (PKCS #1 v1.5, or ECDSA as r ‖ s or ASN.1), and the signer's certificate in DER.
    case signed(message: [UInt8], signature: [UInt8], certificate: [UInt8])
    /// The card has none.
    case absent
    /// A file that it needs does not have the layout that it must have.
    case malformed
    /// A file that it needs was not read.
    case unread
}

extension ResidenceSignedContent {
    /// The values of a dump's file; `nil` where it was not read, and an empty list for another layout.
    private typealias Values = [BERTag: [UInt8]]

    private enum Found {
        case values(Values)
        case malformed
        case unread
    }

    private static func find(_ file: ResidenceFile, _ card: ResidenceType, _ dump: CardDump) -> Found {
        guard let found = dump.file(file), found.state == .read else { return .unread }
        return ResidenceLayout.values(found.data, of: file, on: card).map { .values($0) } ?? .malformed
    }

    /// Gathers it from a dump.
    package init(_ dump: CardDump, on card: ResidenceType) {
        let parts: [ResidenceFile] = card.generation == 1 ? [.front, .photo] : [.entries, .nameAndPhoto]
        var signed: [ResidenceFile: Values] = [:]
        for file in parts + [.signature] {
            switch Self.find(file, card, dump) {
            case .values(let values): signed[file] = values
            case .malformed:
                self = .malformed
                return
            case .unread:
                self = .unread
                return
            }
        }
        let (signatureTag, certificateTag): (BERTag, BERTag) = card.generation == 1 ? (0xDA, 0xDB) : (0xDC, 0xDD)
        let own = signed[.signature] ?? [:]
        let signature = own[signatureTag] ?? []
        let padded = own[certificateTag] ?? []
        guard (signature + padded).contains(where: { $0 != 0 }) else {
            self = .absent
            return
        }
        // Only 00 may follow the certificate.
        guard padded.first == 0x30, let header = try? BERHeader(padded), header.totalLength <= padded.count,
            padded.dropFirst(header.totalLength).allSatisfy({ $0 == 0 })
        else {
            self = .malformed
            return
        }
        func bytes(_ file: ResidenceFile) -> [[UInt8]] {
            ResidenceLayout.padded(signed[file] ?? [:], of: file, on: card)
        }
        var message: [UInt8]
        if card.generation == 1 {
            message = bytes(.front).flatMap(\.self) + bytes(.photo).flatMap(\.self)
        } else {
            message = bytes(.entries).flatMap(\.self)
            message += [UInt8](repeating: 0, count: max(0, 53 - message.count))
            // The photo comes before the name, other than in the file.
            message += bytes(.nameAndPhoto).reversed().flatMap(\.self)
        }
        self = .signed(
            message: message, signature: signature, certificate: Array(padded.prefix(header.totalLength)))
    }
}

extension CardDump {
    /// A file of a residence card.
    func file(_ file: ResidenceFile) -> FileDump? {
        let places = file.application == nil ? [nil, ResidenceFile.specifiedApplication] : [file.application]
        for place in places {
            if let found = applications.first(where: { $0.aid == place })?.file(file.id) { return found }
        }
        return nil
    }
}
