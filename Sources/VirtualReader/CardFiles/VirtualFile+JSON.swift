// SPDX-License-Identifier: Apache-2.0

internal import CardModel

extension VirtualFile {
    private static let keys: Set<String> = [
        "shortID", "data", "size", "fill", "records", "read", "update", "comment",
    ]
    /// Offsets of 15 bits and two bytes more than that: as much as READ BINARY can ever reach.
    private static let longest = 65_536

    /// Reads one file: its bytes alone, or an object.
    init(id: FileIdentifier, json: JSONCursor) throws(DocumentError) {
        if case .string = json.value {
            self.init(id, .bytes(try json.bytes(atMost: VirtualFile.longest)))
            return
        }
        try json.allowOnly(VirtualFile.keys)
        let content: Content
        if let list = try json.optional("records") {
            content = .records(try list.list { record throws(DocumentError) in try record.bytes(atMost: 65_535) })
        } else {
            var bytes = try json.optional("data")?.bytes(atMost: VirtualFile.longest) ?? []
            let size = try json.optional("size")?.integer(in: bytes.count...VirtualFile.longest) ?? bytes.count
            let fill = try json.optional("fill")?.bytes(count: 1).first ?? 0x00
            bytes += [UInt8](repeating: fill, count: size - bytes.count)
            content = .bytes(bytes)
        }
        self.init(
            id,
            shortID: try json.optional("shortID").map { number throws(DocumentError) in
                UInt8(clamping: try number.integer(in: 1...30))
            }, content,
            read: try json.optional("read").map { rule throws(DocumentError) in
                try FileAccess(json: rule)
            } ?? .always,
            update: try json.optional("update").map { rule throws(DocumentError) in try FileAccess(json: rule) }
                ?? .never())
    }

    /// A file of a dump: what was refused is refused with the same status word, what needs a key with 6982.
    init(_ dump: FileDump) {
        let access: FileAccess =
            switch dump.state {
            case .read: .always
            case .refused(let status?): .never(status: status)
            case .lost where !dump.data.isEmpty: .always
            case .keyRequired, .refused(nil), .lost, .skipped: .never()
            }
        self.init(dump.id, .bytes(dump.data), read: access)
    }
}

extension FileAccess {
    /// `always`, `never`, a status word, or the names of PINs.
    init(json: JSONCursor) throws(DocumentError) {
        switch json.value {
        case .array: self = .pins(try json.list { name throws(DocumentError) in try name.text() })
        case .string("always"): self = .always
        case .string("never"): self = .never()
        default:
            let status: FileIdentifier? = json.text(as: FileIdentifier.self)
            guard let status else { throw json.malformed("always, never, a status word or a list of names of PINs") }
            self = .never(status: status.rawValue)
        }
    }
}
