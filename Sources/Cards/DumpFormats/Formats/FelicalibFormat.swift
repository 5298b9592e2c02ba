// SPDX-License-Identifier: Apache-2.0

import ByteCodec
package import CardModel

/// The output of felicalib's `felica_dump`: lines `090F:0000 HEX`, with separated bytes.
///
/// Source: felicalib `src/dump/dump.c`. Codes are in the usual notation, high byte first. There is one IDm and one PMm.
package struct FelicalibFormat: DumpFormat {
    package init() {}
    package var id: String { "felicalib" }
    package var name: LocalizedText { LocalizedText("felicalib listing", "felicalib の一覧") }

    /// Recognizes a block line with one colon, or a comment with the spelling of "service" that only this program uses.
    package func recognizes(_ source: DumpSource) -> Bool {
        source.head.contains { line in
            let text = line.text
            if text.hasPrefix("#") { return ["# System code:", "# Serivce code ="].contains { text.hasPrefix($0) } }
            guard let colons = ColonLine(text), colons.separator == " " else { return false }
            return (try? Hex.decode(colons.rest))?.count == 16
        }
    }

    package func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        var card = ImportedCard()
        for line in source.lines {
            let text = line.text
            if text.hasPrefix("#") {
                try readComment(text.dropFirst().trimmed, line, &card)
            } else if !text.isEmpty {
                guard let colons = ColonLine(text), colons.separator == " " else {
                    throw line.malformed(.form, "SERVICE:BLOCK HEX")
                }
                let number = try line.number16(colons.second)
                let system = card.lastSystem()
                try card.systems[system].add(
                    try line.block(colons.rest), at: number, of: try line.code(colons.first),
                    or: line.malformed(.uniqueBlock))
            }
        }
        return [try card.dump(unnamed: .missing(key: "System code"))]
    }

    private func readComment(_ text: String, _ line: TextLine, _ card: inout ImportedCard) throws(DocumentError) {
        func value(_ name: String) -> String? {
            text.hasPrefix(name) ? text.dropFirst(name.count).trimmed : nil
        }
        if let idm = value("IDm:") {
            card.idm = try line.idm(idm)
        } else if let pmm = value("PMm:") {
            card.pmm = try line.pmm(pmm)
        } else if let code = value("System code:") {
            card.systems.append(ImportedSystem(code: try line.code(code)))
        } else if let area = value("Area:") {
            let words = area.words
            guard words.count == 3, words[1] == "-" else { throw line.malformed(.form, "Area: START - END") }
            let system = card.lastSystem()
            card.systems[system].areas.append(
                AreaDump(start: try line.code(words[0]), end: try line.code(words[2])))
        } else if let service = value("Serivce code =") ?? value("Service code =") {
            let system = card.lastSystem()
            card.systems[system].note(try line.code(service.prefix { $0.isHexDigit }))
        }
    }
}
