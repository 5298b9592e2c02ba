// SPDX-License-Identifier: Apache-2.0

import ByteCodec
package import Kazasu

/// Applies `--redact` to an answer: the card's owner is hidden, the kind of card is not.
package struct Redaction: Sendable {
    package var isOn: Bool

    package init(isOn: Bool) { self.isOn = isOn }

    /// An IDm keeps the system number and the manufacturer code; the card's own twelve digits become 0.
    package func apply(_ idm: IDm) -> IDm {
        isOn ? IDm(rawValue: idm.rawValue & 0xFFFF_0000_0000_0000) : idm
    }

    /// A person's text: a name, a number, a code. The length of what takes its place says nothing about it.
    package func apply(_ text: String) -> String {
        isOn && !text.isEmpty ? "********" : text
    }

    /// Marks a document whose values were masked, so that nobody mistakes the zeros for card data.
    package func apply(_ document: JSONValue) -> JSONValue {
        guard isOn, case .object(var object) = document else { return document }
        object["redacted"] = true
        return .object(object)
    }

    /// Marks the object being written, as its last member.
    package func mark(_ document: inout some (JSONSink & ~Copyable)) {
        if isOn { document.member("redacted", true) }
    }

    /// `card` of a document about a card of a known kind that has no brand.
    package func card(_ card: CardIdentity, kind: CardKind) -> JSONValue {
        let card = DecodedCard(identity: apply(card), kind: kind, brand: nil)
        return JSONValue { card.write(to: &$0) }
    }

    /// A dump without the data that identifies a card: IDms everywhere, the blocks and files with numbers and names.
    package func apply(_ dump: CardDump) -> CardDump {
        guard isOn else { return dump }
        var masked = dump
        let ids = Set(([dump.card.idm].compactMap { $0 } + dump.systems.map(\.idm)).map { $0.inSystem(0) })
        masked.card = apply(dump.card)
        // Data from other tools (a label, the UID once more) cannot be vouched for.
        masked.extra = JSONObject()
        masked.card.extra = JSONObject()
        masked.type2 = dump.type2.map(apply)
        masked.classic = dump.classic.map(apply)
        // Which of its files are personal is unknown.
        masked.desfire = nil
        for system in masked.systems.indices {
            masked.systems[system].idm = apply(masked.systems[system].idm)
            masked.systems[system].extra = JSONObject()
            masked.systems[system].issue = masked.systems[system].issue?.masked
            for area in masked.systems[system].areas.indices { masked.systems[system].areas[area].extra = JSONObject() }
            let code = masked.systems[system].systemCode
            for place in masked.systems[system].services.indices {
                let service = masked.systems[system].services[place]
                masked.systems[system].services[place].extra = JSONObject()
                masked.systems[system].services[place].blocks = BlockTable(
                    service.blocks.map { number, block in
                        (
                            number,
                            Redaction.holds(block, ids)
                                ? .zero
                                : PersonalData.standard.masked(block, at: number, of: service.code, in: code)
                        )
                    })
            }
        }
        for application in masked.applications.indices {
            let aid = masked.applications[application].aid
            masked.applications[application].extra = JSONObject()
            for place in masked.applications[application].files.indices {
                let file = masked.applications[application].files[place]
                masked.applications[application].files[place].extra = JSONObject()
                if PublicFiles.contains(aid, file.id) { continue }
                masked.applications[application].files[place].data = [UInt8](repeating: 0, count: file.data.count)
            }
        }
        return masked
    }

    /// A tag's memory without its UID, its signature and its user's data.
    private func apply(_ tag: Type2Dump) -> Type2Dump {
        var masked = tag
        let product = Type2Report(tag).product
        for (page, bytes) in tag.pages where page < 2 || (product?.userPages ?? 4...UInt16.max).contains(page) {
            masked.pages[page] = [page == 0 ? bytes[0] : 0, 0, 0, 0]
        }
        if let bytes = tag.pages[2] { masked.pages[2] = [0] + bytes.dropFirst() }
        masked.signature = tag.signature.map { [UInt8](repeating: 0, count: $0.count) }
        masked.extra = JSONObject()
        return masked
    }

    /// The memory of a MIFARE Classic without its UID and its keys, which become unknown.
    private func apply(_ memory: ClassicDump) -> ClassicDump {
        var masked = memory.withoutKeys
        if let block = memory[0] { masked[0] = apply(block, of: 0) }
        masked.extra = JSONObject()
        return masked
    }

    /// A block of a MIFARE Classic: the first one has the UID.
    package func apply(_ bytes: [UInt8?], of block: Int) -> [UInt8?] {
        guard isOn, block == 0 else { return bytes }
        return bytes.enumerated().map { (1..<7).contains($0.offset) ? nil : $0.element }
    }

    /// Whether one of the IDms occurs anywhere in the block.
    private static func holds(_ block: Block, _ ids: Set<IDm>) -> Bool {
        (0...8).contains { offset in
            ids.contains(IDm(rawValue: block.number(at: offset, count: 8, .big)).inSystem(0))
        }
    }
}

extension Redaction {
    /// A card with its own number masked. A UID keeps its first byte, which names the manufacturer; a PUPI keeps
    /// nothing.
    package func apply(_ card: CardIdentity) -> CardIdentity {
        guard isOn else { return card }
        var masked = card
        masked.idm = card.idm.map(apply)
        masked.uid = card.uid.map { $0.prefix(1) + $0.dropFirst().map { _ in 0 } }
        masked.pupi = card.pupi.map { $0.map { _ in 0 } }
        return masked
    }
}

extension Redaction {
    /// The value of a field for documents.
    package func value(of field: CardField) -> String {
        field.isPersonal ? apply(field.value) : field.value
    }

    /// The value of a field for display.
    package func words(of field: CardField) -> String {
        field.isPersonal ? apply(field.value) : field.label?[Language.current] ?? field.value
    }
}

/// The files of ISO 7816 cards that are known not to identify the cardholder. The content of any other file is unknown.
package enum PublicFiles {
    package static func contains(_ application: AID?, _ file: FileIdentifier) -> Bool {
        // Any other file of a tag is its owner's data.
        (application == Type4Tag.application && file == Type4Tag.capabilityFile)
            || LicenseFile.allCases.contains { $0.application == application && $0.id == file && $0.access == .free }
            || MyNumberFile.allCases.contains {
                $0.application.aid == application && $0.id == file && !$0.isPersonal
            }
    }
}
