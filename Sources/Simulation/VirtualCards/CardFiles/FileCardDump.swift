// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// The virtual card of a dump: its files as they were read; refused files are refused again.
///
/// A passport and a residence card open again by what they opened with, as far as the dump has it: the passport's DG1, the
/// card's number. Nobody has the private keys of a chip, so that a passport from a dump is the copy that it is.
extension FileCardFile {
    package static func card(of dump: CardDump, _ virtual: JSONCursor?) throws(DocumentError) -> VirtualFileCard {
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
        for applet in VirtualFileTree.applets { applet.close(&tree, as: dump) }
        if let memory = dump.desfire, let desfire = VirtualDESFire(memory, of: dump.card) {
            tree.applets.append(desfire)
        }
        let interface = try interface(dump.card).changed(by: CardQuirks(virtual?.optional("quirks")))
        return VirtualFileCard(interface, files: tree, options: options, isoDEP: isoDEP)
    }

    private static func interface(_ card: CardIdentity) throws(DocumentError) -> ISODEPInterface {
        switch card.technology {
        case .typeA:
            guard let uid = card.uid,
                let identity = TypeAIdentity(uid: uid, atqa: card.atqa, sak: card.sak ?? TypeACommand.speaksISODEP)
            else { throw .malformed(key: "card.uid", expected: .init(.bytes, "4", "7", "10")) }
            return .typeA(identity, ats: card.ats ?? ISODEPInterface.plainATS)
        case .typeB:
            let identity = TypeBIdentity(
                pupi: card.pupi, applicationData: card.applicationData ?? [0, 0, 0, 0],
                protocolInfo: card.protocolInfo ?? TypeBIdentity.plainProtocolInfo)
            guard let identity else { throw .malformed(key: "card.protocolInfo", expected: .init(.bytes, "3", "4")) }
            return .typeB(identity)
        case .felica: throw .malformed(key: "card.technology", expected: .init(.oneOf, "typeA", "typeB"))
        }
    }
}

extension VirtualFileTree {
    /// Gives the files of a card from a dump short identifiers, and those of its own that everybody could read a key.
    package mutating func close(
        _ right: String, _ isClosed: Bool, _ encrypted: AID, _ isOwn: (VirtualDirectory) -> Bool
    ) {
        for place in masterFile.files.indices { masterFile.files[place].shortID = masterFile.files[place].ownShortID }
        for directory in applications.indices where isOwn(applications[directory]) {
            for place in applications[directory].files.indices {
                var file = applications[directory].files[place]
                file.shortID = file.ownShortID
                if isClosed, file.read == .always {
                    file.read = .pins([right])
                    file.isEncrypted = applications[directory].name == encrypted
                }
                applications[directory].files[place] = file
            }
        }
    }
}

extension VirtualDirectory {
    fileprivate init(_ dump: ApplicationDump) {
        self.init(name: dump.aid, information: dump.selectAnswer ?? [], files: dump.files.map { VirtualFile($0) })
    }
}

extension VirtualFile {
    /// A file of a dump: a refused one is refused with the same status word, one that needs a key with 6982.
    fileprivate init(_ dump: FileDump) {
        let access: FileAccess =
            switch dump.state {
            case .read: .always
            case .refused(let status?): .never(status: status)
            case .lost where !dump.data.isEmpty: .always
            case .keyRequired, .refused(nil), .lost, .skipped: .never()
            }
        self.init(dump.id, .bytes(dump.data), read: access)
    }

    /// The short identifier of a residence card's or a passport's file: the last five bits of the long one.
    var ownShortID: UInt8? {
        let number = UInt8(truncatingIfNeeded: id.rawValue)
        return (1...30).contains(number) ? number : nil
    }
}
