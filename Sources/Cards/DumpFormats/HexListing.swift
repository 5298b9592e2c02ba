// SPDX-License-Identifier: Apache-2.0

import ByteCodec
package import CardModel

/// A dump as lines for `awk`, `grep` and `diff`, with comments after `#`.
///
/// Each block is one line: `SYSTEM SERVICE BLOCK HEX` for FeliCa, `PAGE HEX` for a Type 2 Tag, `BLOCK HEX` for a MIFARE
/// Classic with `--` for unknown bytes, `AID FILE OFFSET HEX` with 16 bytes for ISO 7816 files.
package struct HexListing: Sendable {
    let separator: String

    /// Creates a listing style.
    ///
    /// - Parameter separator: the text between two bytes of a block; empty by default.
    package init(separator: String = "") {
        self.separator = separator
    }

    /// Returns the whole listing; every line ends with a newline.
    package func text(_ dump: CardDump) -> String {
        var text = ""
        if let idm = dump.card.idm {
            let pmm = dump.card.pmm.map { " PMm \($0.description.uppercased())" } ?? ""
            text += "# IDm \(idm.description.uppercased())\(pmm)\n"
        }
        for system in dump.systems {
            text += "# system \(system.systemCode)\(ids(of: system, in: dump))\n"
            let keyed = system.services.filter { $0.state == .keyRequired }.map(\.code.description)
            if !keyed.isEmpty { text += "# \(system.systemCode) key required: \(keyed.joined(separator: " "))\n" }
            for service in system.services {
                text += note(service, in: system.systemCode)
                for (number, block) in service.blocks {
                    text += line(system.systemCode, service.code, number, block)
                }
            }
        }
        text += identity(dump.card)
        if let tag = dump.type2 { text += pages(tag) }
        if let memory = dump.classic { text += blocks(memory) }
        for application in dump.applications { text += files(application) }
        for part in dump.missing { text += note(part) }
        return text
    }

    /// Returns one line of the listing, including its newline.
    package func line(_ system: SystemCode, _ service: ServiceCode, _ number: UInt16, _ block: Block) -> String {
        let bytes = Hex.encode(block.bytes, uppercase: true, separator: separator)
        return "\(system) \(service) \(Hex.encode(number, digits: 4)) \(bytes)\n"
    }

    /// Returns the IDm of a system, and its PMm if it differs from the card's; assumed values are not written.
    private func ids(of system: SystemDump, in dump: CardDump) -> String {
        var text = system.assumed.contains(.idm) ? "" : " IDm \(system.idm.description.uppercased())"
        if !system.assumed.contains(.pmm), system.pmm != dump.card.pmm {
            text += " PMm \(system.pmm.description.uppercased())"
        }
        return text
    }

    private func note(_ service: ServiceDump, in system: SystemCode) -> String {
        switch service.state {
        case .refused(let status?):
            return "# \(system) \(service.code) refused, status flags \(Hex.encode(status, digits: 4))\n"
        case .refused(nil):
            let reason = service.keyRefusal.map { "not opened: \($0.rawValue)" }
            return "# \(system) \(service.code) \(reason ?? "refused by silence")\n"
        case .skipped:
            guard let same = service.sameAs else { return "" }
            return "# \(system) \(service.code) same blocks as \(same)\n"
        case .lost: return "# \(system) \(service.code) not read to its end\n"
        case .read, .keyRequired: return ""
        }
    }

    private func note(_ part: MissingPart) -> String {
        if let page = part.fromPage { return "# missing: pages from \(Type2Dump.name(of: page)) (\(part.reason))\n" }
        if let block = part.fromBlock, part.system == nil {
            return "# missing: blocks from \(block) (\(part.reason))\n"
        }
        let file = part.file.map { [part.application?.description.uppercased() ?? "MF", $0.description] }
        let application = part.application.map { [$0.description.uppercased()] }
        let place =
            file ?? application ?? [part.system?.description, part.service?.description].compactMap { $0 }
        let from = part.fromBlock.map { " from block \(Hex.encode($0, digits: 4))" } ?? ""
        return "# missing: \((place.isEmpty ? ["systems"] : place).joined(separator: " "))\(from) (\(part.reason))\n"
    }
}

extension HexListing {
    /// Returns the reader's information on a card of type A or B, as a comment.
    func identity(_ card: CardIdentity) -> String {
        let parts: [(String, String?)] = [
            ("UID", card.uid.map(upper)), ("ATQA", card.atqa.map { Hex.encode($0, digits: 4) }),
            ("SAK", card.sak.map { upper([$0]) }), ("ATS", card.ats.map(upper)), ("PUPI", card.pupi.map(upper)),
            ("AppData", card.applicationData.map(upper)), ("ProtocolInfo", card.protocolInfo.map(upper)),
        ]
        let text = parts.compactMap { name, value in value.map { " \(name) \($0)" } }.joined()
        return text.isEmpty ? "" : "#\(text)\n"
    }

    /// Returns the pages of a Type 2 Tag, `PAGE HEX`, and its other responses.
    func pages(_ tag: Type2Dump) -> String {
        var text = ""
        if let version = tag.version { text += "# version \(upper(version))\n" }
        if let signature = tag.signature { text += "# signature \(upper(signature))\n" }
        for (number, count) in tag.counters.sorted(by: { $0.key < $1.key }) { text += "# counter \(number) \(count)\n" }
        for (page, bytes) in tag.pages.sorted(by: { $0.key < $1.key }) {
            text += "\(Type2Dump.name(of: page)) \(digits(bytes))\n"
        }
        for name in tag.notAsked { text += "# not asked \(name)\n" }
        if let page = tag.closedFrom {
            // Of the tags with protection, only Ultralight C lacks GET_VERSION.
            let secret = tag.version != nil ? "password" : tag.notAsked.isEmpty ? "key" : "key or password"
            text += "# page \(Type2Dump.name(of: page)) needs the \(secret)\n"
        }
        return text
    }

    /// Returns the blocks of a MIFARE Classic, `BLOCK HEX`.
    func blocks(_ memory: ClassicDump) -> String {
        (0..<memory.kind.blockCount).reduce("# MIFARE Classic \(memory.kind.rawValue)\n") { text, block in
            text + "\(block) \(ClassicDump.digits(of: memory[block], unknown: "-", separator: separator))\n"
        }
    }

    /// Returns the files of an application, `AID FILE OFFSET HEX`, sixteen bytes per line; `MF` for the master file.
    func files(_ application: ApplicationDump) -> String {
        let name = application.aid.map { upper($0.bytes) } ?? "MF"
        var text = ""
        for file in application.files {
            switch file.state {
            case .read: break
            case .keyRequired: text += "# \(name) \(file.id) key required\n"
            case .refused(let status?):
                text += "# \(name) \(file.id) refused, status word \(Hex.encode(status, digits: 4))\n"
            case .refused(nil): text += "# \(name) \(file.id) refused by silence\n"
            case .lost: text += "# \(name) \(file.id) not read to its end\n"
            case .skipped: text += "# \(name) \(file.id) skipped\n"
            }
            for offset in stride(from: 0, to: file.data.count, by: 16) {
                let bytes = Array(file.data[offset..<min(offset + 16, file.data.count)])
                text += "\(name) \(file.id) \(Hex.encode(offset, digits: 4)) \(digits(bytes))\n"
            }
        }
        return text
    }

    private func upper(_ bytes: [UInt8]) -> String { Hex.encode(bytes, uppercase: true) }

    private func digits(_ bytes: [UInt8]) -> String { Hex.encode(bytes, uppercase: true, separator: separator) }
}
