// SPDX-License-Identifier: Apache-2.0

import ByteCodec
package import CardModel

extension DumpFileFormat {
    /// The listing of libpafe.
    public static let libpafe = DumpFileFormat(known: "libpafe")
}

/// The output of libpafe's `felica_dump`: lines `090F:0000:HEX`.
///
/// Source: libpafe `tests/felica_dump.c`, `src/felica_command.c`. In place of the service code, the program itself
/// prints the service **number**, bits 15 to 6 of the code, and the attribute in a comment before the blocks:
/// `# 0024:000f  Cyclic Access Read only`, then `  0024:0000:HEX`. Other programs print the whole code. A line that
/// follows such a comment is read the way the program means it, any other line has the whole code; Kazasu writes the
/// whole code.
package struct LibpafeFormat: WritableDumpFormat {
    package init() {}
    package var id: String { "libpafe" }
    package var name: LocalizedText { LocalizedText("libpafe listing", "libpafe の一覧") }

    /// Recognizes a block line with two colons, or a comment that only this program writes.
    package func recognizes(_ source: DumpSource) -> Bool {
        source.head.contains { line in
            let text = line.text
            if text.hasPrefix("#") {
                return ["# FELICA SYSTEM_CODE =", "# card IDm =", "# IDm =", "# lpdump :"].contains {
                    text.hasPrefix($0)
                }
            }
            guard let colons = ColonLine(text), colons.separator == ":" else { return false }
            return (try? Hex.decode(colons.rest))?.count == 16
        }
    }

    package func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        var card = ImportedCard()
        var service: ServiceCode?
        for line in source.lines {
            let text = line.text
            if text.isEmpty { continue }
            if text.hasPrefix("#") {
                try readComment(text.dropFirst().trimmed, line, &card, &service)
            } else if text.hasPrefix("can't get service") {
                card.complete = false
            } else if !text.hasPrefix("system num") {
                try readBlock(text, line, &card, service)
            }
        }
        return [try card.dump(unnamed: .missing(key: "FELICA SYSTEM_CODE"))]
    }

    private func readBlock(
        _ text: String, _ line: TextLine, _ card: inout ImportedCard, _ service: ServiceCode?
    ) throws(DocumentError) {
        guard let colons = ColonLine(text), colons.separator == ":" else {
            throw line.malformed(.form, "SERVICE:BLOCK:HEX")
        }
        let first: ServiceCode = try line.code(colons.first)
        if let service, first.rawValue != service.number {
            throw line.malformed(.blockOfNamedService)
        }
        let number = try line.number16(colons.second)
        try card.systems[card.lastSystem()].add(
            try line.block(colons.rest), at: number, of: service ?? first, or: line.malformed(.uniqueBlock))
    }

    private func readComment(
        _ text: String, _ line: TextLine, _ card: inout ImportedCard, _ service: inout ServiceCode?
    ) throws(DocumentError) {
        func value(_ name: String) -> String? {
            text.hasPrefix(name + " =") ? text.dropFirst(name.count + 2).trimmed : nil
        }
        if let code = value("FELICA SYSTEM_CODE") {
            card.systems.append(ImportedSystem(code: try line.code(code)))
            service = nil
        } else if let idm = value("card IDm") {
            card.systems[card.lastSystem()].idm = try line.idm(idm)
        } else if let pmm = value("card PMm") {
            card.systems[card.lastSystem()].pmm = try line.pmm(pmm)
        } else if let idm = value("IDm") {
            card.idm = try line.idm(idm)
        } else if let pmm = value("PMm") {
            card.pmm = try line.pmm(pmm)
        } else if let code = value("service") {
            card.systems[card.lastSystem()].note(try line.code(code))
        } else if let colons = ColonLine(text), colons.separator == " " {
            let number = try line.number16(colons.first)
            let attribute = try line.number16(colons.second)
            guard number < 0x400, attribute < 0x40 else {
                throw line.malformed(.serviceNumber)
            }
            let code = ServiceCode(rawValue: number << 6 | attribute)
            card.systems[card.lastSystem()].note(code)
            service = code
        }
    }

    /// Writes every system with its IDm and PMm, every service, every block.
    package func write(_ dump: CardDump) throws(DumpWritingError) -> [UInt8] {
        try dump.checkFeliCa()
        try dump.checkCodesAreUnique(systems: false)
        var text = dump.card.idm.map { "# IDm = \($0.description.uppercased())\n" } ?? ""
        text += dump.card.pmm.map { "# PMm = \($0.description.uppercased())\n" } ?? ""
        for system in dump.systems {
            text += "# FELICA SYSTEM_CODE = \(system.systemCode)\n"
            if !system.assumed.contains(.idm) { text += "# card IDm = \(system.idm.description.uppercased())\n" }
            if !system.assumed.contains(.pmm) { text += "# card PMm = \(system.pmm.description.uppercased())\n" }
            text += "# area num = \(system.areas.count)\n# service num = \(system.services.count)\n"
            for (number, area) in system.areas.enumerated() {
                let code = area.start.rawValue
                text += "# AREA #\(number) = \(Hex.encode(code >> 6, digits: 4)) "
                text += "(\(Hex.encode(code & 0x3F, digits: 5, uppercase: false)))\n"
            }
            for service in system.services {
                text += "# service = \(service.code)\n"
                for (number, block) in service.blocks {
                    text += "\(service.code):\(Hex.encode(number, digits: 4)):\(block)\n"
                }
            }
        }
        return Array(text.utf8)
    }
}
