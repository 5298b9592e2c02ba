// SPDX-License-Identifier: Apache-2.0

import ByteCodec
public import CardModel

/// The memory of a MIFARE Ultralight or NTAG (`mfu`) or of an ST25TB or SRI tag (`14b`) as Proxmark3 writes it.
///
/// Facts: Proxmark3 `client/src/fileutils.c`. The pages become `type2.pages` of `kazasu.dump/1`, the blocks of a
/// `14b` file `st25tb.blocks`, each four bytes by number in two hexadecimal digits.
public struct ProxmarkMemoryFormat: DumpFormat {
    /// The format.
    public init() {}
    /// `proxmark-memory`.
    public var id: String { "proxmark-memory" }
    /// Its name.
    public var name: LocalizedText { LocalizedText("Proxmark3 memory dump", "Proxmark3 のメモリダンプ") }

    /// The document says who made it, and the kind of file.
    public func recognises(_ source: DumpSource) -> Bool {
        guard let json = source.json, (try? json.member("Created")?.text()) == "proxmark3" else { return false }
        return json.member("FileType") != nil
    }

    /// One card.
    public func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        guard let root = source.json else { throw .notJSON(reason: source.kind) }
        let type = try root.required("FileType")
        let isType2: Bool
        switch try type.text() {
        case "mfu": isType2 = true
        case "14b", "14b v2": isType2 = false
        default: throw .notImported(kind: try type.text())
        }
        let memory = try memory(root.required("blocks"))
        var identity = CardIdentity(technology: isType2 ? .typeA : .typeB)
        let uid = try root.optional("Card")?.optional("UID")?.bytes()
        if isType2 { identity.uid = uid } else if let uid { identity.extra["uid"] = .string(Hex.encode(uid)) }
        var dump = CardDump(card: identity)
        if isType2 {
            dump.type2 = Type2Dump(pages: Dictionary(memory.map { (UInt16($0.number), $0.bytes) }) { $1 })
            // Proxmark3 gives the answers to GET_VERSION and READ_SIG as fields of the card; zeros when there was none.
            let answer = { (key: String, count: Int) throws(DocumentError) -> [UInt8]? in
                let bytes = try root.optional("Card")?.optional(key)?.bytes()
                return bytes?.count == count && bytes?.contains { $0 != 0 } == true ? bytes : nil
            }
            dump.type2?.version = try answer("Version", 8)
            dump.type2?.signature = try answer("Signature", 32)
        } else {
            let blocks = JSONObject(memory.map { (Hex.encode($0.number, digits: 2), .string(Hex.encode($0.bytes))) })
            dump.extra["st25tb"] = .object(JSONObject([("blocks", .object(blocks))]))
        }
        dump.extra["proxmark"] = .object(try root.object().without(["Created", "blocks"]))
        return [dump]
    }

    /// Four bytes each by decimal number, in order.
    private func memory(_ blocks: JSONCursor) throws(DocumentError) -> [(number: UInt8, bytes: [UInt8])] {
        var memory: [(number: UInt8, bytes: [UInt8])] = []
        for (key, value) in try blocks.members() {
            guard let number = BlockIndex(decimal: key).flatMap({ UInt8(exactly: $0.rawValue) }) else {
                throw value.malformed("a decimal number from 0 to 255 as its name")
            }
            memory.append((number, try value.bytes(count: 4)))
        }
        return memory.sorted { $0.number < $1.number }
    }
}
