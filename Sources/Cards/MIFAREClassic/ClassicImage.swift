// SPDX-License-Identifier: Apache-2.0

/// What is known of the memory of a MIFARE Classic: blocks of sixteen bytes, each known or not.
package struct ClassicImage: Hashable, Sendable {
    package var kind: ClassicKind
    /// Four or seven bytes; `nil` if it is not known.
    package var uid: [UInt8]?
    package var atqa: UInt16?
    package var sak: UInt8?
    /// The blocks that are known at least in part.
    package private(set) var blocks: [Int: [UInt8?]] = [:]

    package init(_ kind: ClassicKind, uid: [UInt8]? = nil, atqa: UInt16? = nil, sak: UInt8? = nil) {
        (self.kind, self.uid, self.atqa, self.sak) = (kind, uid, atqa, sak)
    }

    /// A block; `nil` where nothing is known of it. Blocks of another length, or beyond the card, are ignored.
    package subscript(block: Int) -> [UInt8?]? {
        get { blocks[block] }
        set {
            guard let newValue else {
                blocks[block] = nil
                return
            }
            guard newValue.count == ClassicKind.blockSize, (0..<kind.blockCount).contains(block) else { return }
            blocks[block] = newValue.contains { $0 != nil } ? newValue : nil
        }
    }

    /// A block of which all is known.
    package func whole(_ block: Int) -> [UInt8]? {
        guard let bytes = blocks[block] else { return nil }
        let known = bytes.compactMap { $0 }
        return known.count == bytes.count ? known : nil
    }

    /// A key from a trailer, if all of it is known.
    package func key(_ type: ClassicKeyType, of sector: Int) -> ClassicKey? {
        guard let trailer = blocks[ClassicKind.trailer(of: sector)] else { return nil }
        let bytes = (type == .a ? trailer[..<6] : trailer[10...]).compactMap { $0 }
        return ClassicKey(bytes)
    }

    /// The UID from the manufacturer's block: four bytes with their check byte, else seven.
    package static func uid(inBlock0 block: [UInt8]) -> [UInt8]? {
        guard block.count == ClassicKind.blockSize else { return nil }
        let four = Array(block[..<4])
        return four.reduce(0, ^) == block[4] ? four : Array(block[..<7])
    }

    /// The image without the keys in its trailers.
    package var withoutKeys: ClassicImage {
        var image = self
        for sector in 0..<kind.sectorCount {
            let trailer = ClassicKind.trailer(of: sector)
            guard var bytes = image.blocks[trailer] else { continue }
            for place in Array(0..<6) + Array(10..<16) { bytes[place] = nil }
            image[trailer] = bytes
        }
        return image
    }
}

/// A key of a MIFARE Classic, six bytes; it prints as `Redacted`.
package struct ClassicKey: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    package let bytes: [UInt8]

    /// - Returns: `nil` unless there are six bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == 6 else { return nil }
        self.bytes = bytes
    }

    package var description: String { "Redacted" }
    package var debugDescription: String { "Redacted" }
    package var customMirror: Mirror { Mirror(self, children: []) }

    private init(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8, _ e: UInt8, _ f: UInt8) { bytes = [a, b, c, d, e, f] }

    /// The three keys that are public: from the factory, of the application directory, of NDEF sectors.
    package static let transport = [
        ClassicKey(0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF), ClassicKey(0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5),
        ClassicKey(0xD3, 0xF7, 0xD3, 0xF7, 0xD3, 0xF7),
    ]
}

/// Keys from a file: of one sector each, or for every sector.
package struct ClassicKeys: Hashable, Sendable {
    private var ofSectors: [Int: [ClassicKeyType: [ClassicKey]]] = [:]
    private var ofAll: [ClassicKeyType: [ClassicKey]] = [:]

    package init() {}

    /// Adds a key.
    ///
    /// - Parameters:
    ///   - sector: `nil` for every sector.
    ///   - type: `nil` for both.
    package mutating func add(_ key: ClassicKey, sector: Int? = nil, type: ClassicKeyType? = nil) {
        for type in type.map({ [$0] }) ?? ClassicKeyType.allCases {
            if let sector {
                if ofSectors[sector]?[type]?.contains(key) != true {
                    ofSectors[sector, default: [:]][type, default: []].append(key)
                }
            } else if ofAll[type]?.contains(key) != true {
                ofAll[type, default: []].append(key)
            }
        }
    }

    /// Adds the keys of another file.
    package mutating func merge(_ other: ClassicKeys) {
        for (sector, types) in other.ofSectors {
            for (type, keys) in types { for key in keys { add(key, sector: sector, type: type) } }
        }
        for (type, keys) in other.ofAll { for key in keys { add(key, type: type) } }
    }

    /// The keys to try for a sector, those of its own first.
    package func keys(_ type: ClassicKeyType, of sector: Int) -> [ClassicKey] {
        let own = ofSectors[sector]?[type] ?? []
        return own + (ofAll[type] ?? []).filter { !own.contains($0) }
    }

    package var isEmpty: Bool { ofSectors.isEmpty && ofAll.isEmpty }
}
