// SPDX-License-Identifier: Apache-2.0

import ByteCodec
package import CardModel

/// Output of programs built from felicalib's C# samples: lines `LABEL [N]  C7-46-…`.
///
/// Source: programs with FelicaLib that read the history of a Suica (FeliScan and others). Only the history is printed
/// with its bytes; the label names it (`乗降履歴情報`), the number is that of the block. Lines `IDm=` and `PMm=` may come
/// before; all other lines are for people.
package struct FelicalibSampleFormat: DumpFormat {
    package init() {}
    package var id: String { "felicalib-sample" }
    package var name: LocalizedText { LocalizedText("felicalib sample in C#", "felicalib の C# サンプルの出力") }

    /// Recognizes a line with a label, a number in brackets and sixteen bytes with hyphens.
    package func recognizes(_ source: DumpSource) -> Bool {
        source.head.contains { line in
            guard let record = LabeledLine(line.text) else { return false }
            return record.digits.contains("-") && (try? line.block(record.digits)) != nil
        }
    }

    package func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        var card = ImportedCard(complete: false)
        var system = ImportedSystem(code: nil)
        let history = ServiceCode(rawValue: 0x090F)
        for line in source.lines {
            let text = line.text
            if text.hasPrefix("IDm=") {
                card.idm = try line.idm(text.dropFirst(4))
            } else if text.hasPrefix("PMm=") {
                card.pmm = try line.pmm(text.dropFirst(4))
            } else if let record = LabeledLine(text), record.digits.contains("-") {
                let block = try line.block(record.digits)
                guard record.label.contains("乗降履歴") || block[0] == 0 || HexLinesFormat.isPlausible(block) else {
                    throw line.malformed(.historyRecord)
                }
                try system.add(block, at: record.number, of: history, or: line.malformed(.uniqueBlock))
            }
        }
        guard system.count(of: history) > 0 else { throw .missing(key: "[0]") }
        card.systems = [system]
        return [try card.dump()]
    }
}

/// A line `LABEL [N]  REST` with a decimal number.
private struct LabeledLine {
    let label: Substring
    let number: UInt16
    let digits: String

    init?(_ text: String) {
        guard let open = text.firstIndex(of: "["), open > text.startIndex,
            let close = text[open...].firstIndex(of: "]"),
            let number = UInt16(text[text.index(after: open)..<close])
        else { return nil }
        label = text[..<open]
        self.number = number
        digits = text[text.index(after: close)...].trimmed
    }
}
