// SPDX-License-Identifier: Apache-2.0

import ByteCodec
public import CardModel

/// What `hf felica dump` of Proxmark3 printed before it wrote files, as people keep it from their terminal.
///
/// Facts: listings in Proxmark3's pull request 2951 (2025). Codes stand in the order in which people write them. Only
/// the system that was selected is in it, without its code; lines of other commands may stand around.
public struct ProxmarkListingFormat: DumpFormat {
    /// The format.
    public init() {}
    /// `proxmark-text`.
    public var id: String { "proxmark-text" }
    /// Its name.
    public var name: LocalizedText { LocalizedText("Proxmark3 FeliCa listing", "Proxmark3 の FeliCa 一覧") }

    /// A line that names a service and says whether it is public.
    public func recognises(_ source: DumpSource) -> Bool {
        source.head.contains { line in
            let cells = ProxmarkListingFormat.cells(line)
            guard ProxmarkListingFormat.service(cells) != nil, cells.count > 1 else { return false }
            return ["Public", "Private"].contains(cells[1])
        }
    }

    /// One card.
    public func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        var card = ImportedCard()
        var system = ImportedSystem(code: nil)
        var service: ServiceCode?
        for line in source.lines {
            let cells = ProxmarkListingFormat.cells(line)
            if let idm = ProxmarkListingFormat.value("IDm", cells) {
                card.idm = try line.idm(idm)
            } else if let pmm = ProxmarkListingFormat.value("PMm", cells) {
                card.pmm = try line.pmm(pmm)
            } else if let code = ProxmarkListingFormat.service(cells) {
                let found: ServiceCode = try line.code(code)
                guard cells.count > 1, cells[1] == (found.requiresAuthentication ? "Private" : "Public") else {
                    throw line.malformed("Public or Private, as the code of the service says")
                }
                system.note(found)
                service = found
            } else if cells.count > 1, !cells[0].isEmpty, cells[0].utf8.allSatisfy({ Hex.value(of: $0) != nil }) {
                guard let service else { throw line.malformed("a block after its service") }
                guard system.add(try line.block(cells[1]), at: try line.number16(cells[0]), of: service) else {
                    throw line.malformed("a block that stands once")
                }
            }
        }
        card.systems = [system]
        return [try card.dump(unnamed: .missing(key: "system"))]
    }

    /// The cells of a line between bars, without the mark that the program puts before each line.
    private static func cells(_ line: TextLine) -> [String] {
        var text = line.text[...]
        let marks = ["[=]", "[+]", "[-]", "[!]", "[?]", "[#]"]
        if let mark = marks.first(where: { text.hasPrefix($0) }) { text = text.dropFirst(mark.count) }
        return text.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmed }
    }

    /// The code in a cell `Service 090F`.
    private static func service(_ cells: [String]) -> Substring? {
        guard let words = cells.first?.words, words.count == 2, words[0] == "Service" else { return nil }
        return words[1]
    }

    /// What follows a name and a colon, when nothing else is in the line.
    private static func value(_ name: String, _ cells: [String]) -> String? {
        guard cells.count == 1, cells[0].hasPrefix("\(name):") else { return nil }
        return cells[0].dropFirst(name.count + 1).trimmed
    }
}
