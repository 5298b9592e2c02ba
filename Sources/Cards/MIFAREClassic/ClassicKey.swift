// SPDX-License-Identifier: Apache-2.0

package import CardModel

extension ClassicDump {
    /// A key from a trailer, if all of it is known.
    package func key(_ type: ClassicKeyType, of sector: Int) -> ClassicKey? {
        guard let trailer = blocks[ClassicKind.trailer(of: sector)] else { return nil }
        let bytes = (type == .a ? trailer[..<6] : trailer[10...]).compactMap { $0 }
        return ClassicKey(bytes)
    }
}

/// Which of the two keys of a sector.
public enum ClassicKeyType: String, Hashable, Sendable, CaseIterable {
    /// Key A.
    case a = "A"
    /// Key B; it authenticates nobody where the access bits let it be read.
    case b = "B"

    /// The command of authentication.
    package var command: UInt8 { self == .a ? 0x60 : 0x61 }
}

/// A key of a MIFARE Classic, six bytes; it prints as `Redacted`.
public struct ClassicKey: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package let bytes: [UInt8]

    /// Makes a key from its bytes.
    ///
    /// - Returns: `nil` unless there are six bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 6 else { return nil }
        self.bytes = bytes
    }

    /// `Redacted`.
    public var description: String { "Redacted" }
    /// `Redacted`.
    public var debugDescription: String { "Redacted" }
    /// An empty mirror.
    public var customMirror: Mirror { Mirror(self, children: []) }

    private init(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8, _ e: UInt8, _ f: UInt8) { bytes = [a, b, c, d, e, f] }

    /// The three keys that are public: from the factory, of the application directory, of NDEF sectors.
    package static let transport = [
        ClassicKey(0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF), ClassicKey(0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5),
        ClassicKey(0xD3, 0xF7, 0xD3, 0xF7, 0xD3, 0xF7),
    ]
}

/// The keys of a MIFARE Classic that its owner has: of one sector each, or for every sector.
public struct ClassicKeys: Hashable, Sendable {
    private var ofSectors: [Int: [ClassicKeyType: [ClassicKey]]] = [:]
    private var ofAll: [ClassicKeyType: [ClassicKey]] = [:]

    /// Makes a list without keys.
    public init() {}

    /// Adds a key.
    ///
    /// - Parameters:
    ///   - sector: `nil` for every sector.
    ///   - type: `nil` for both.
    public mutating func add(_ key: ClassicKey, sector: Int? = nil, type: ClassicKeyType? = nil) {
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
    public mutating func merge(_ other: ClassicKeys) {
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

    /// Whether there are no keys.
    public var isEmpty: Bool { ofSectors.isEmpty && ofAll.isEmpty }
}
