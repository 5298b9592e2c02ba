// SPDX-License-Identifier: Apache-2.0

package import CardModel
internal import ReaderCore

/// The row of a recording in `Docs/tested-with.md`.
package struct RecordingRow: Hashable, Sendable, Comparable {
    private let day: String
    private let name: String
    private let cells: [LocalizedText]

    /// - Parameters:
    ///   - check: a file without faults.
    ///   - name: the file's name.
    /// - Returns: `nil` for a file with faults, and for a simulated reader or card, which proves nothing.
    package init?(_ check: RecordingCheck, name: String) {
        guard check.faults.isEmpty, let header = check.header, !header.isSimulated, header.course == .reader else {
            return nil
        }
        let system = header.system
        (day, self.name) = (header.day, name)
        let below = ["distribution", "kernel"].compactMap { system[$0] }.joined(separator: ", ")
        let result = check.items.compactMap { item -> LocalizedText? in
            guard case .outcome(let outcome) = item, let reason = outcome.reason else { return nil }
            return LocalizedText("ended early: `\(reason)`", "途中で終了: `\(reason)`")
        }
        func same(_ text: String) -> LocalizedText { LocalizedText(text, text) }
        cells = [
            same(header.day), same(String(header.tool.split(separator: " ").last ?? "")), same(below),
            same(header.reader.name.uppercased()), Self.card(check.items),
            result.first ?? LocalizedText("complete", "最後まで完了"),
            same("[\(name)](../Fixtures/recordings/\(name))"),
        ]
    }

    /// The row as Markdown.
    package func text(_ language: Language) -> String {
        "| " + cells.map { $0[language] }.joined(separator: " | ") + " |"
    }

    /// By day, then by name.
    package static func < (one: RecordingRow, other: RecordingRow) -> Bool {
        (one.day, one.name) < (other.day, other.name)
    }

    /// The kinds of card that answered.
    private static func card(_ items: [Recording.Item]) -> LocalizedText {
        var kinds: [String] = []
        for case .exchange(let entry) in items {
            guard case .activate(_, .success(let picc?)) = entry.event else { continue }
            let kind =
                switch picc {
                case .felica: "FeliCa"
                case .typeA(let target): target.isISODEP ? "type A, ISO-DEP" : "type A"
                case .typeB: "type B"
                }
            if !kinds.contains(kind) { kinds.append(kind) }
        }
        guard !kinds.isEmpty else { return LocalizedText("none", "なし") }
        let text = kinds.joined(separator: "; ")
        return LocalizedText(text, text.replacing("type", with: "Type"))
    }
}
