// SPDX-License-Identifier: Apache-2.0

import ByteCodec
public import CardModel

/// A dump as lines for `awk`, `grep` and `diff`, comments after `#`: one block a line, `SYSTEM SERVICE BLOCK HEX`, of FeliCa,
/// `PAGE HEX` of a Type 2 Tag, `AID FILE OFFSET HEX` with 16 bytes of ISO 7816 files.
public struct HexListing: Sendable {
    let separator: String

    /// A way of listing blocks.
    ///
    /// - Parameter separator: what stands between two bytes of a block; nothing by default.
    public init(separator: String = "") {
        self.separator = separator
    }

    /// The whole listing; every line ends with a line end.
    public func text(_ dump: CardDump) -> String {
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
        for application in dump.applications { text += files(application) }
        for part in dump.missing { text += note(part) }
        return text
    }

    /// One line of the listing, with its line end.
    public func line(_ system: SystemCode, _ service: ServiceCode, _ number: UInt16, _ block: Block) -> String {
        let bytes = Hex.encode(block.bytes, uppercase: true, separator: separator)
        return "\(system) \(service) \(Hex.encode(number, digits: 4)) \(bytes)\n"
    }

    /// The IDm of a system, and its PMm where that is not the card's; what is only assumed is not written.
    private func ids(of system: SystemDump, in dump: CardDump) -> String {
        var text = system.isAssumed("idm") ? "" : " IDm \(system.idm.description.uppercased())"
        if !system.isAssumed("pmm"), system.pmm != dump.card.pmm {
            text += " PMm \(system.pmm.description.uppercased())"
        }
        return text
    }

    private func note(_ service: ServiceDump, in system: SystemCode) -> String {
        switch service.state {
        case .refused(let status?):
            return "# \(system) \(service.code) refused, status flags \(Hex.encode(status, digits: 4))\n"
        case .refused(nil): return "# \(system) \(service.code) refused by silence\n"
        case .skipped:
            guard case .string(let same)? = service.extra["sameAs"] else { return "" }
            return "# \(system) \(service.code) same blocks as \(same)\n"
        case .lost: return "# \(system) \(service.code) not read to its end\n"
        case .read, .keyRequired: return ""
        }
    }

    private func note(_ part: MissingPart) -> String {
        if let page = part.fromPage { return "# missing: pages from \(Type2Dump.name(of: page)) (\(part.reason))\n" }
        let file = part.file.map { [part.application?.description.uppercased() ?? "MF", $0.description] }
        let application = part.application.map { [$0.description.uppercased()] }
        let place =
            file ?? application ?? [part.system?.description, part.service?.description].compactMap { $0 }
        let from = part.fromBlock.map { " from block \(Hex.encode($0, digits: 4))" } ?? ""
        return "# missing: \((place.isEmpty ? ["systems"] : place).joined(separator: " "))\(from) (\(part.reason))\n"
    }
}
