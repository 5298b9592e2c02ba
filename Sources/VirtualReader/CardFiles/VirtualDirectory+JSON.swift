// SPDX-License-Identifier: Apache-2.0

internal import CardModel

extension VirtualDirectory {
    private static let keys: Set<String> = [
        "aid", "id", "information", "locked", "pins", "files", "dataObjects", "comment",
    ]

    /// Reads `masterFile` or an element of `applications`.
    init(json: JSONCursor) throws(DocumentError) {
        try json.allowOnly(VirtualDirectory.keys)
        self.init(
            name: try json.optional("aid")?.aid(), id: try json.optional("id")?.code(),
            information: try json.optional("information")?.bytes(atMost: 4096) ?? [],
            isLocked: try json.optional("locked")?.bool() ?? false)
        for (name, value) in try json.optional("pins")?.members() ?? [] {
            pins.append(try VirtualPIN(name: name, json: value))
        }
        for (key, value) in try json.optional("files")?.members() ?? [] {
            guard let id = FileIdentifier(key) else { throw value.malformed("four hexadecimal digits as its name") }
            files.append(try VirtualFile(id: id, json: value))
        }
        for (key, value) in try json.optional("dataObjects")?.members() ?? [] {
            guard let tag = FileIdentifier(key) else { throw value.malformed("P1 and P2 as its name") }
            dataObjects[tag.rawValue] = try value.bytes(atMost: 65_535)
        }
    }

    /// An application of a dump.
    init(_ dump: ApplicationDump) {
        self.init(name: dump.aid, information: dump.selectAnswer ?? [], files: dump.files.map { VirtualFile($0) })
    }
}
