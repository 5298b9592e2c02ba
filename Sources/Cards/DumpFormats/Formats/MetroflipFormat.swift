// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// The files of Metroflip, an application of the Flipper Zero, for Japanese transit cards.
///
/// Source: Metroflip's own files. They contain only the history, so the service is 090F; the system 0003 follows from
/// the kind of card and is marked as assumed. Its labels count all open blocks of the card, of which it writes those of
/// the history, so they need not begin at 00. Its own sample gives two records the same label: records are then numbered
/// in line order, and the numbers are marked as assumed.
package struct MetroflipFormat: DumpFormat {
    package init() {}
    package var id: String { "metroflip" }
    package var name: LocalizedText { LocalizedText("Metroflip file", "Metroflip のファイル") }

    /// Recognizes the first line, which names the kind of file.
    package func recognizes(_ source: DumpSource) -> Bool {
        source.head.first { !$0.text.isEmpty }?.value(of: "Filetype") == "Flipper Metroflip File"
    }

    package func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        var card = ImportedCard(complete: false)
        var system = ImportedSystem(code: nil)
        let history = ServiceCode(rawValue: 0x090F)
        var records: [(label: UInt16, block: Block)] = []
        var isFeliCa = false
        for line in source.lines {
            if let type = line.value(of: "Device type") {
                guard type == "FeliCa" else { throw line.malformed(.feliCaDevice) }
                isFeliCa = true
            } else if let idm = line.value(of: "UID") ?? line.value(of: "Manufacture id") {
                card.idm = try line.idm(idm)
            } else if let pmm = line.value(of: "Manufacture parameter") {
                card.pmm = try line.pmm(pmm)
            } else if let type = line.value(of: "Card Type") {
                guard ["suica", "japan ic", "japan transit ic"].contains(type.lowercased()) else {
                    throw line.malformed(.transitCardType)
                }
            } else if let (place, value) = record(line.text) {
                records.append((try line.number16(place), try line.block(value)))
            }
        }
        let isLabeled = Set(records.map(\.label)).count == records.count
        let first = records.map(\.label).min() ?? 0
        for (place, record) in records.enumerated() {
            _ = system.add(record.block, at: isLabeled ? record.label - first : UInt16(clamping: place), of: history)
        }
        if !isLabeled { system.note(history) { $0.assumed = [.blocks] } }
        guard isFeliCa else { throw .missing(key: "Device type") }
        guard system.count(of: history) > 0 else { throw .missing(key: "Travel 00") }
        card.systems = [system]
        return [try card.dump()]
    }

    /// Returns the number and the bytes of a line `Travel 0A: …` or `Log 0A: …`; `nil` for the heading before them.
    private func record(_ text: String) -> (place: Substring, value: String)? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let words = text[..<colon].words
        guard words.count == 2, words[0] == "Travel" || words[0] == "Log",
            (2...4).contains(words[1].utf8.count), words[1].allSatisfy(\.isHexDigit)
        else { return nil }
        return (words[1], text[text.index(after: colon)...].trimmed)
    }
}
