// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The memory of a MIFARE Classic in a dump: blocks of sixteen bytes, of which each byte is known or not.
///
/// The trailers contain the keys that opened their sectors.
public struct ClassicDump: Hashable, Sendable {
    /// The size of the card.
    public let kind: ClassicKind
    /// The blocks of which at least one byte is known, by number; `nil` stands for an unknown byte.
    public private(set) var blocks: [Int: [UInt8?]] = [:]
    /// Members of the document that are unknown to this version.
    package var extra = JSONObject()

    /// Makes the dump of a card.
    ///
    /// - Parameters:
    ///   - kind: the size of the card.
    ///   - blocks: sixteen bytes each, by number from 0 in the whole card; others are ignored.
    public init(_ kind: ClassicKind, blocks: [Int: [UInt8?]] = [:]) {
        self.kind = kind
        for (number, bytes) in blocks { self[number] = bytes }
    }

    /// A block; `nil` if none of its bytes is known. Blocks of another length, or beyond the card, are ignored.
    public subscript(block: Int) -> [UInt8?]? {
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

    /// Returns a block if all of its bytes are known.
    package func whole(_ block: Int) -> [UInt8]? {
        guard let bytes = blocks[block] else { return nil }
        let known = bytes.compactMap { $0 }
        return known.count == bytes.count ? known : nil
    }

    /// The blocks with at least one unknown byte, ascending.
    package var incompleteBlocks: [Int] { (0..<kind.blockCount).filter { whole($0) == nil } }

    /// The sectors with unknown access bits, ascending.
    package var sectorsWithoutAccess: [Int] {
        (0..<kind.sectorCount).filter { sector in
            guard let trailer = blocks[ClassicKind.trailer(of: sector)] else { return true }
            return trailer[6..<9].contains { $0 == nil }
        }
    }

    /// A block that is not known at all.
    package static let unknownBlock = [UInt8?](repeating: nil, count: ClassicKind.blockSize)

    /// Returns what a card shows of a block: of a trailer neither key.
    package static func withoutKeys(_ block: Int, _ bytes: [UInt8?]) -> [UInt8?] {
        guard ClassicKind.trailer(of: ClassicKind.sector(of: block)) == block else { return bytes }
        return bytes.enumerated().map { (6..<10).contains($0.offset) ? $0.element : nil }
    }

    /// The dump without the keys in its trailers.
    package var withoutKeys: ClassicDump {
        var dump = self
        for (block, bytes) in blocks { dump[block] = Self.withoutKeys(block, bytes) }
        return dump
    }

    /// The UID in the manufacturer's block: four bytes with their check byte, else seven; `nil` if it is not known.
    package var uid: [UInt8]? {
        guard let block = whole(0) else { return nil }
        let four = Array(block[..<4])
        return four.reduce(0, ^) == block[4] ? four : Array(block[..<7])
    }
}

extension ClassicDump {
    /// Returns the digits of a block, with two signs for each unknown byte.
    package static func digits(
        of block: [UInt8?]?, unknown: Character, uppercase: Bool = true, separator: String = ""
    ) -> String {
        (block ?? unknownBlock).map { byte in
            byte.map { Hex.encode([$0], uppercase: uppercase) } ?? String(repeating: unknown, count: 2)
        }.joined(separator: separator)
    }

    /// Decodes sixteen bytes of two digits each, with two signs for an unknown byte; `nil` for any other text.
    package static func bytes(of digits: some StringProtocol, unknown: Character) -> [UInt8?]? {
        let digits = Array(digits.utf8)
        guard digits.count == 2 * ClassicKind.blockSize, let sign = unknown.asciiValue else { return nil }
        var bytes: [UInt8?] = []
        for place in stride(from: 0, to: digits.count, by: 2) {
            if digits[place] == sign, digits[place + 1] == sign {
                bytes.append(nil)
            } else if let high = Hex.value(of: digits[place]), let low = Hex.value(of: digits[place + 1]) {
                bytes.append(high << 4 | low)
            } else {
                return nil
            }
        }
        return bytes
    }

    init(json: JSONCursor) throws(DocumentError) {
        let size = try json.required("size")
        guard let kind = ClassicKind(rawValue: try size.text()) else {
            throw size.malformed(.oneOf, values: ClassicKind.allCases.map(\.rawValue))
        }
        self.init(kind)
        for (key, value) in try json.required("blocks").members() {
            guard let block = Int(key), "\(block)" == key, (0..<kind.blockCount).contains(block) else {
                throw value.malformed(.blockNumberUpTo, "\(kind.blockCount - 1)")
            }
            if value.value == .null { continue }
            guard let bytes = Self.bytes(of: try value.text(), unknown: "?") else {
                throw value.malformed(.bytesInHex, "16")
            }
            guard blocks[block] == nil else { throw value.malformed(.uniqueBlock) }
            self[block] = bytes
        }
        extra = try json.members(without: ["size", "blocks"])
    }

    /// The blocks of documents: digits with `??` for each unknown byte, `null` for a block that is not known at all.
    package var blocksJSON: JSONValue {
        .object(JSONObject((0..<kind.blockCount).map { ("\($0)", Self.json(blocks[$0])) }))
    }

    /// A block of a document.
    package static func json(_ block: [UInt8?]?) -> JSONValue {
        .text(block.map { digits(of: $0, unknown: "?", uppercase: false) })
    }

    var json: JSONValue {
        var object = JSONObject([("size", .string(kind.rawValue)), ("blocks", blocksJSON)])
        object.merge(extra)
        return .object(object)
    }
}
