// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Reads cards of files, of type A or B, from `kazasu.card/1` and from dumps.
enum FileCardFile {
    private static let keys: Set<String> = [
        "schema", "comment", "typeA", "typeB", "masterFile", "applications", "virtual",
    ]

    static func load(_ root: JSONCursor) throws(DocumentError) -> VirtualFileCard {
        try root.allowOnly(keys)
        let tree = VirtualFileTree(
            masterFile: try root.optional("masterFile").map { json throws(DocumentError) in
                try VirtualDirectory(json: json)
            } ?? VirtualDirectory(),
            applications: try root.optional("applications")?.list { json throws(DocumentError) in
                try VirtualDirectory(json: json)
            } ?? [])
        try check(tree, root)
        let (options, isoDEP) = try FileCardOptions.read(root.optional("virtual"))
        return VirtualFileCard(try interface(root), files: tree, options: options, isoDEP: isoDEP)
    }

    private static func interface(_ root: JSONCursor) throws(DocumentError) -> ISODEPInterface {
        guard let typeB = try root.optional("typeB") else { return try typeA(root.required("typeA")) }
        if let other = try root.optional("typeA") { throw other.malformed("one of typeA and typeB") }
        try typeB.allowOnly(["pupi", "applicationData", "protocolInfo", "applicationFamily"])
        let pupi = try typeB.optional("pupi")
        let isRandom = pupi?.value == .string("random")
        let identity = TypeBIdentity(
            pupi: isRandom ? nil : try pupi?.bytes(count: 4),
            applicationData: try typeB.optional("applicationData")?.bytes(count: 4) ?? [0, 0, 0, 0],
            protocolInfo: try typeB.optional("protocolInfo")?.bytes() ?? TypeBIdentity.plainProtocolInfo,
            applicationFamily: try typeB.optional("applicationFamily")?.bytes(count: 1).first ?? 0)
        guard let identity else { throw typeB.malformed("a protocol info of three or four bytes") }
        return .typeB(identity)
    }

    private static func typeA(_ json: JSONCursor) throws(DocumentError) -> ISODEPInterface {
        try json.allowOnly(["uid", "atqa", "sak", "ats"])
        let ats = try json.optional("ats")?.bytes() ?? ISODEPInterface.plainATS
        guard (1...20).contains(ats.count), ats.first == UInt8(ats.count) else {
            throw json.malformed("an ATS of at most 20 bytes whose first byte is its length")
        }
        return .typeA(try TypeAIdentity(json: json, sak: TypeACommand.speaksISODEP), ats: ats)
    }

    /// A name of a PIN stands once, and access rules name no other.
    private static func check(_ tree: VirtualFileTree, _ root: JSONCursor) throws(DocumentError) {
        let directories = [tree.masterFile] + tree.applications
        let names = directories.flatMap { $0.pins.map(\.name) }
        let known = Set(names)
        guard known.count == names.count else { throw root.malformed("each name of a PIN only once") }
        for access in directories.flatMap(\.files).flatMap({ [$0.read, $0.update] }) {
            if case .pins(let wanted) = access, !known.isSuperset(of: wanted) {
                throw root.malformed("read and update that name PINs of this card: \(wanted.joined(separator: ", "))")
            }
        }
    }

    /// The card that a dump is of: its files as they were read; what was refused is refused again.
    static func card(of dump: CardDump, _ virtual: JSONCursor?) throws(DocumentError) -> VirtualFileCard {
        let (options, isoDEP) = try FileCardOptions.read(virtual)
        var tree = VirtualFileTree()
        for application in dump.applications {
            let directory = VirtualDirectory(application)
            if application.aid == nil {
                tree.masterFile.files += directory.files
                tree.masterFile.information = directory.information
            } else {
                tree.applications.append(directory)
            }
        }
        let card = dump.card
        let interface: ISODEPInterface
        switch card.technology {
        case .typeA:
            guard let uid = card.uid,
                let identity = TypeAIdentity(uid: uid, atqa: card.atqa, sak: card.sak ?? TypeACommand.speaksISODEP)
            else { throw .malformed(key: "card.uid", expected: "4, 7 or 10 bytes") }
            interface = .typeA(identity, ats: card.ats ?? ISODEPInterface.plainATS)
        case .typeB:
            let identity = TypeBIdentity(
                pupi: card.pupi, applicationData: card.applicationData ?? [0, 0, 0, 0],
                protocolInfo: card.protocolInfo ?? TypeBIdentity.plainProtocolInfo)
            guard let identity else { throw .malformed(key: "card.protocolInfo", expected: "three or four bytes") }
            interface = .typeB(identity)
        case .felica: throw .malformed(key: "card.technology", expected: "typeA or typeB")
        }
        return VirtualFileCard(interface, files: tree, options: options, isoDEP: isoDEP)
    }
}
