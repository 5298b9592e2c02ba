// SPDX-License-Identifier: Apache-2.0

import ByteCodec
package import CardModel

extension DumpFileFormat {
    /// One block a line.
    public static let hex = DumpFileFormat(known: "hex")
}

/// Kazasu's listing for `awk`, `grep` and `diff`, see ``HexListing``.
///
/// Comments in the form written by ``HexListing`` are read too; other comments are ignored.
package struct KazasuHexFormat: WritableDumpFormat {
    package init() {}
    /// The identifier `hex`, as in `dump --format hex`.
    package var id: String { "hex" }
    package var name: LocalizedText { LocalizedText("Kazasu hex listing", "Kazasu の 16 進一覧") }

    /// Recognizes a block line, or the comment that opens the listing or a system.
    package func recognizes(_ source: DumpSource) -> Bool {
        source.head.contains { line in
            let words = line.text.words
            guard words.first == "#" else { return isBlockLine(words) }
            if TagListing.opens(words) { return true }
            let opensSystem = words.count >= 3 && words[1] == "system" && words[2].utf8.count == 4
            return opensSystem || words.count == 5 && words[1] == "IDm" && words[3] == "PMm"
        }
    }

    private func isBlockLine(_ words: [Substring]) -> Bool {
        guard words.count >= 4, words[..<3].allSatisfy({ $0.utf8.count == 4 && NodeCode($0) != nil }) else {
            return false
        }
        return (try? Hex.decode(words[3...].joined()))?.count == 16
    }

    package func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        if let first = source.head.first(where: { !$0.text.isEmpty }), TagListing.opens(first.text.words) {
            return [try TagListing.read(source.lines)]
        }
        var card = ImportedCard()
        for line in source.lines {
            let words = line.text.words
            if words.isEmpty { continue }
            if words[0].first == "#" {
                try readComment(Array(words.dropFirst()), line, &card)
            } else {
                try readBlock(words, line, &card)
            }
        }
        // A system without its own PMm has the card's, see HexListing.
        for place in card.systems.indices where card.systems[place].pmm == nil { card.systems[place].pmm = card.pmm }
        return [try card.dump()]
    }

    private func readBlock(_ words: [Substring], _ line: TextLine, _ card: inout ImportedCard) throws(DocumentError) {
        guard words.count >= 4 else { throw line.malformed(.form, "SYSTEM SERVICE BLOCK HEX") }
        let system = try place(of: try line.code(words[0]), line, in: &card)
        let service: ServiceCode = try line.code(words[1])
        let number: BlockIndex = try line.code(words[2])
        let block = try line.block(words[3...].joined(separator: " "))
        try card.systems[system].add(block, at: number.rawValue, of: service, or: line.malformed(.uniqueBlock))
    }

    private func readComment(
        _ words: [Substring], _ line: TextLine, _ card: inout ImportedCard
    ) throws(DocumentError) {
        if words.first == "IDm" {
            let ids = try ids(words, line)
            (card.idm, card.pmm) = (ids.idm, ids.pmm)
        } else if words.count >= 2, words[0] == "system", words[1].utf8.count == 4, let code = SystemCode(words[1]) {
            try checkCount(card.systems.count, line)
            // Two systems of one card can have the same code.
            let ids = try ids(words.dropFirst(2), line)
            card.systems.append(ImportedSystem(code: code, idm: ids.idm, pmm: ids.pmm))
        } else if words.first == "missing:" {
            card.complete = false
            card.missing.append(missing(words.dropFirst()))
        } else if words.count >= 3, words[0].utf8.count == 4, let code = SystemCode(words[0]) {
            let system = try place(of: code, line, in: &card)
            if words[1] == "key", words[2] == "required:" {
                for word in words[3...] { card.systems[system].note(try line.code(word), state: .keyRequired) }
            } else if words[1].utf8.count == 4, let service = ServiceCode(words[1]) {
                note(service, words[2...].joined(separator: " "), &card.systems[system])
            }
        }
    }

    /// Reads `IDm X`, `PMm Y`, both or neither.
    private func ids(_ words: some Collection<Substring>, _ line: TextLine) throws(DocumentError) -> (
        idm: IDm?, pmm: PMm?
    ) {
        let words = Array(words)
        var idm: IDm?
        var pmm: PMm?
        for place in stride(from: 0, to: words.count - 1, by: 2) {
            if words[place] == "IDm" { idm = try line.idm(words[place + 1]) }
            if words[place] == "PMm" { pmm = try line.pmm(words[place + 1]) }
        }
        return (idm, pmm)
    }

    private func note(_ service: ServiceCode, _ what: String, _ system: inout ImportedSystem) {
        if what == "refused by silence" {
            system.note(service, state: .refused(status: nil))
        } else if what.hasPrefix("refused, status flags "), let status = BlockIndex(what.suffix(4)) {
            system.note(service, state: .refused(status: status.rawValue))
        } else if what.hasPrefix("same blocks as "), let same = SameBlocks(what.suffix(4)) {
            system.note(service, state: .skipped) { $0.sameAs = same }
        } else if what == "not read to its end" {
            system.note(service, state: .lost)
        }
    }

    private func missing(_ words: ArraySlice<Substring>) -> MissingPart {
        let reason = words.last.map { String($0.filter { $0 != "(" && $0 != ")" }) } ?? "unknown"
        var part = MissingPart(reason: MissingPart.Reason(rawValue: reason))
        part.system = words.first.flatMap { $0.utf8.count == 4 ? SystemCode($0) : nil }
        let second = words.element(at: 1)
        part.service = part.system == nil ? nil : second.flatMap { $0.utf8.count == 4 ? ServiceCode($0) : nil }
        if let from = words.firstIndex(of: "block"), let digits = words.element(at: from - words.startIndex + 1) {
            part.fromBlock = BlockIndex(digits)?.rawValue
        }
        return part
    }

    /// Returns the index of a system: the last one with this code, since lines follow the comment that opens it.
    private func place(
        of code: SystemCode, _ line: TextLine, in card: inout ImportedCard
    ) throws(DocumentError) -> Int {
        if let place = card.systems.lastIndex(where: { $0.code == code }) { return place }
        try checkCount(card.systems.count, line)
        card.systems.append(ImportedSystem(code: code))
        return card.systems.count - 1
    }

    /// The IDm has four bits for the system number; this also bounds the search for a system on each line.
    private func checkCount(_ count: Int, _ line: TextLine) throws(DocumentError) {
        guard count < 16 else { throw line.malformed(.atMostSystems, "16") }
    }

    /// Writes the listing without a separator between bytes.
    package func write(_ dump: CardDump) throws(DumpWritingError) -> [UInt8] {
        if dump.card.technology == .felica {
            try dump.checkFeliCa()
            try dump.checkCodesAreUnique(systems: false)
        }
        return Array(HexListing().text(dump).utf8)
    }
}
