// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// How cards of FeliCa Lite-S are issued: the contents and the restrictions, without any key.
public struct LiteProfile: Hashable, Sendable {
    /// The data format code, the two bytes of the ID block that Sony assigns; `nil` keeps those of the card.
    public var dataFormatCode: UInt16?
    /// The last six bytes of the ID block; `nil` keeps those of the card.
    public var free: [UInt8]?
    /// SER_C, the two bytes of block 84; `nil` keeps those of the card.
    public var serviceCode: UInt16?
    /// The version of the card key (CKV).
    public var keyVersion: UInt16
    /// The contents of the user blocks (0 to 13) and REG (14).
    public var blocks: [UInt16: Block]
    /// Whether the card answers as an NFC Forum tag (12FC); `nil` keeps the setting.
    public var answersNDEF: Bool?
    /// Blocks 0 to 14 that can never be written again.
    public var readOnly: Set<UInt16>
    /// Blocks 0 to 14 that can be read only after authentication.
    public var authenticatedReads: Set<UInt16>
    /// Blocks 0 to 14 that can be written only after authentication.
    public var authenticatedWrites: Set<UInt16>
    /// Blocks 0 to 14 that can be written only with a MAC.
    public var writesWithMAC: Set<UInt16>
    /// Whether the card key can be changed with a MAC after locking.
    public var isKeyChangeable: Bool
    /// Whether the system blocks are locked, and with them these restrictions.
    public var locksCard: Bool

    /// Makes a profile that locks a card and restricts nothing else.
    public init(keyVersion: UInt16) {
        self.keyVersion = keyVersion
        (blocks, readOnly, authenticatedReads, authenticatedWrites, writesWithMAC) = ([:], [], [], [], [])
        (isKeyChangeable, locksCard) = (false, true)
    }

    /// The blocks of which any of them restricts something, or whose contents it gives.
    private static let blockRange: ClosedRange<UInt16> = 0...14

    /// The schema of profiles.
    public static let schema = "kazasu.liteProfile/1"

    private static let keys: Set<String> = [
        "schema", "comment", "dataFormatCode", "free", "serviceCode", "keyVersion", "blocks", "ndef", "readOnly",
        "authenticateToRead", "authenticateToWrite", "macToWrite", "keyChangeable", "lock",
    ]

    /// Reads a document `kazasu.liteProfile/1`.
    ///
    /// - Throws: `DocumentError` with the place of the error.
    public init(parsing bytes: [UInt8]) throws(DocumentError) {
        try self.init(JSONCursor(JSONValue(parsing: bytes)))
    }

    package init(_ json: JSONCursor) throws(DocumentError) {
        let schema = try json.required("schema").text()
        guard schema == Self.schema else { throw .unknownSchema(found: schema, supported: Self.schema) }
        for (key, value) in try json.members() where !Self.keys.contains(key) {
            throw value.malformed(.knownMember, values: Self.keys.sorted())
        }
        func number(_ key: String) throws(DocumentError) -> UInt16? {
            try json.optional(key).map { value throws(DocumentError) in
                try value.bytes(count: 2).reduce(0) { $0 << 8 | UInt16($1) }
            }
        }
        func list(_ key: String) throws(DocumentError) -> Set<UInt16> {
            Set(
                try json.optional(key)?.list { value throws(DocumentError) in
                    UInt16(clamping: try value.integer(in: 0...14))
                } ?? [])
        }
        dataFormatCode = try number("dataFormatCode")
        free = try json.optional("free")?.bytes(count: 6)
        serviceCode = try number("serviceCode")
        keyVersion = try number("keyVersion") ?? 1
        var blocks: [UInt16: Block] = [:]
        for (key, value) in try json.optional("blocks")?.members() ?? [] {
            guard let number = UInt16(key), Self.blockRange.contains(number),
                let block = Block(try value.bytes(count: 16))
            else { throw value.malformed(.form, "0–14") }
            blocks[number] = block
        }
        self.blocks = blocks
        answersNDEF = try json.optional("ndef")?.bool()
        readOnly = try list("readOnly")
        authenticatedReads = try list("authenticateToRead")
        authenticatedWrites = try list("authenticateToWrite")
        writesWithMAC = try list("macToWrite")
        isKeyChangeable = try json.optional("keyChangeable")?.bool() ?? false
        locksCard = try json.optional("lock")?.bool() ?? true
    }

    /// The document `kazasu.liteProfile/1`.
    package var json: JSONValue {
        func list(_ numbers: Set<UInt16>) -> JSONValue { .array(numbers.sorted().map { .int($0) }) }
        func digits(_ number: UInt16) -> JSONValue { .string(Hex.encode(number, digits: 4)) }
        var object = JSONObject([("schema", .string(Self.schema))])
        if let dataFormatCode { object["dataFormatCode"] = digits(dataFormatCode) }
        if let free, let text = Block(free + [UInt8](repeating: 0, count: max(0, 16 - free.count)))?.hexadecimal {
            object["free"] = .string(String(text.prefix(12)))
        }
        if let serviceCode { object["serviceCode"] = digits(serviceCode) }
        object["keyVersion"] = digits(keyVersion)
        var contents = JSONObject()
        for (number, block) in sortedBlocks { contents[String(number)] = .string(block.hexadecimal) }
        object["blocks"] = .object(contents)
        if let answersNDEF { object["ndef"] = .bool(answersNDEF) }
        object["readOnly"] = list(readOnly)
        object["authenticateToRead"] = list(authenticatedReads)
        object["authenticateToWrite"] = list(authenticatedWrites)
        object["macToWrite"] = list(writesWithMAC)
        object["keyChangeable"] = .bool(isKeyChangeable)
        object["lock"] = .bool(locksCard)
        return .object(object)
    }

    // MARK: Blocks

    /// The contents of the user blocks, the lowest number first.
    var sortedBlocks: [(number: UInt16, block: Block)] {
        blocks.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The ID block that a card with this one gets.
    package func id(_ old: Block) -> Block {
        var bytes = old.bytes
        if let dataFormatCode {
            bytes[8...9] = [UInt8(dataFormatCode >> 8), UInt8(truncatingIfNeeded: dataFormatCode)]
        }
        if let free, free.count == 6 { bytes[10...15] = free[...] }
        return Block(bytes) ?? old
    }

    /// SER_C, which is in the order of SYS_C.
    func service(_ old: Block) -> Block {
        guard let serviceCode else { return old }
        return old.replacing([UInt8(serviceCode >> 8), UInt8(truncatingIfNeeded: serviceCode)], at: 0)
    }

    /// CKV, least significant byte first.
    var version: Block {
        Block.zero.replacing([UInt8(truncatingIfNeeded: keyVersion), UInt8(keyVersion >> 8)], at: 0)
    }

    /// The MC block that a card with this one gets.
    ///
    /// Restrictions are only added. With the lock, the bits of MC itself are frozen, too, and STATE needs a MAC: else
    /// anybody could make blocks read-only, or declare himself authenticated.
    func configuration(_ old: Block) -> Block {
        func map(_ numbers: Set<UInt16>) -> UInt16 { numbers.reduce(0) { $0 | 1 << ($1 & 15) } }
        func pair(_ number: UInt16) -> [UInt8] { [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)] }
        let writable = old.uint16(at: 0, .little) & ~map(readOnly) & (locksCard ? 0x7FFF : 0xFFFF)
        var block = old.replacing(pair(writable), at: 0)
        if locksCard { block = block.replacing([0x00], at: 2) }
        if let answersNDEF { block = block.replacing([old[3] & 0xFE | (answersNDEF ? 1 : 0)], at: 3) }
        block = block.replacing([isKeyChangeable ? 1 : 0], at: 5)
        for (offset, numbers) in [(6, authenticatedReads), (8, authenticatedWrites), (10, writesWithMAC)] {
            block = block.replacing(pair(old.uint16(at: offset, .little) | map(numbers)), at: offset)
        }
        return locksCard ? block.replacing([0x01], at: 12) : block
    }
}

extension Block {
    /// The block with other bytes from `offset`; those past the end are dropped.
    fileprivate func replacing(_ bytes: [UInt8], at offset: Int) -> Block {
        var all = self.bytes
        for (place, byte) in zip(all.indices.dropFirst(offset), bytes) { all[place] = byte }
        return Block(all) ?? self
    }
}
