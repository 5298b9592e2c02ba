// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI
import KazasuTaps

/// The file of `--only`: a card and its name a line with a tab between them, or a YAML mapping of cards to names.
enum KnownCardsFile {
    /// The longest file, in bytes; a line a card is enough for 100,000 of them.
    private static let longest = 8 << 20

    static func read(_ path: String) throws(CommandError) -> KnownCards {
        try parse(Files.read(path, limit: longest), path)
    }

    /// - Parameter path: the name of the file in messages.
    static func parse(_ bytes: [UInt8], _ path: String) throws(CommandError) -> KnownCards {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandError(.fileNotUTF8, values: [path])
        }
        var cards = KnownCards()
        for entry in try entries(text, path) {
            do throws(KnownCards.Refusal) {
                try cards.add(entry.tag, name: entry.name)
            } catch {
                throw bad(path, entry.line, error)
            }
        }
        return cards
    }

    private typealias Entry = (tag: String, name: String, line: Int)

    private static func entries(_ text: String, _ path: String) throws(CommandError) -> [Entry] {
        let lines = text.split(whereSeparator: \.isNewline).map(String.init)
        let isTable = lines.contains { !$0.hasPrefix("#") && $0.contains("\t") }
        return isTable ? try table(text, path) : try mapping(text, path)
    }

    private static func table(_ text: String, _ path: String) throws(CommandError) -> [Entry] {
        var entries: [Entry] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            if line.hasPrefix("#") || line.allSatisfy(\.isWhitespace) { continue }
            let cells = line.split(separator: "\t", maxSplits: 1).map(String.init)
            guard cells.count == 2, !cells[1].allSatisfy(\.isWhitespace) else {
                throw bad(.knownCardsNoName, path, index + 1)
            }
            entries.append((cells[0], cells[1].split(separator: "\t").first.map(String.init) ?? "", index + 1))
        }
        return entries
    }

    private static func mapping(_ text: String, _ path: String) throws(CommandError) -> [Entry] {
        let root: YAML?
        do { root = try YAML.document(in: text) } catch {
            throw bad(.knownCardsNotATable, path, nil)
        }
        guard let root, !root.isNull else { return [] }
        guard case .mapping(let mapping) = root.content else {
            throw bad(.knownCardsNoName, path, root.line)
        }
        var entries: [Entry] = []
        for (key, value) in mapping {
            guard let tag = key.text, let name = value.text, !name.isEmpty else {
                throw bad(path, key.line, .noName)
            }
            entries.append((tag, name, key.line))
        }
        return entries
    }

    private static func bad(_ path: String, _ line: Int?, _ refusal: KnownCards.Refusal) -> CommandError {
        CommandError(.knownCardsFile, values: [CommandError.place(path, line), refusal.words[Language.current]])
    }

    private static func bad(_ code: CommandError.Code, _ path: String, _ line: Int?) -> CommandError {
        CommandError(code, values: [CommandError.place(path, line)])
    }
}

extension CommandError {
    /// A place in a text file, as errors name it.
    static func place(_ path: String, _ line: Int?) -> String {
        line.map { tr("\(path), line \($0)", "\(path) の \($0) 行目") } ?? path
    }
}
