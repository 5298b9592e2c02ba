// SPDX-License-Identifier: Apache-2.0

package import ByteCodec

/// Writes JSON over several lines as it arrives, indented by two spaces per level.
///
/// Arrays and objects without nested arrays or objects stay on one line while that line is short. At most one line is
/// held back, so that a document of any length needs no memory beyond its pieces.
package struct JSONPrettyWriter: JSONSink, ~Copyable {
    private var text = JSONWriter()
    private let flush: ((Span<UInt8>) -> Void)?
    /// The open arrays and objects, outermost first. All but the last two are broken: spread over lines.
    private var levels: [Level] = []
    /// The entry being written: its key, then its value.
    private var entry = JSONWriter()

    private static let lineLength = 110
    private static let piece = 1 << 16

    private struct Level {
        let isObject: Bool
        /// The text before the bracket on its line.
        let key: [UInt8]
        /// The entries, while it is not known whether they fit on one line.
        var entries: [[UInt8]] = []
        /// The length of that line with both brackets.
        var length = 2
        var isBroken = false
        var isEmpty = true
    }

    /// Makes an empty writer.
    ///
    /// - Parameter flush: receives each piece of the text; without it, the whole text is kept.
    package init(flush: ((Span<UInt8>) -> Void)? = nil) {
        self.flush = flush
    }

    /// The text written since the last piece was flushed.
    package var unflushed: String { text.text }

    /// Ends the text with a newline and flushes the rest.
    package mutating func finish() {
        text.raw("\n")
        flushText(all: true)
    }

    private mutating func flushText(all: Bool = false) {
        guard let flush, all || text.count >= JSONPrettyWriter.piece else { return }
        text.withBytes { flush($0) }
        text.removeAll()
    }

    // MARK: Lines

    /// Accepts the finished entry: a scalar, or an array or object on one line.
    private mutating func endEntry() {
        defer { entry.removeAll() }
        guard let last = levels.indices.last else { return text.raw(entry) }
        if levels[last].isEmpty { becomeParent(levels.count - 1) }
        if levels[last].isBroken { return writeLine(of: last) }
        let separator = levels[last].isEmpty ? 0 : 2
        levels[last].isEmpty = false
        levels[last].length += entry.count + separator
        levels[last].entries.append(entry.bytes)
        if levels[last].length + 2 * last > JSONPrettyWriter.lineLength { breakUp(last) }
    }

    /// Notes that this array or object has contents, so that the one around it cannot be on one line.
    private mutating func becomeParent(_ level: Int) {
        if level > 0, !levels[level - 1].isBroken { breakUp(level - 1) }
    }

    /// Writes the entry on a separate line.
    private mutating func writeLine(of level: Int) {
        beginLine(of: level)
        text.raw(entry)
        flushText()
    }

    private mutating func beginLine(of level: Int) {
        text.raw(levels[level].isEmpty ? "\n" : ",\n")
        levels[level].isEmpty = false
        text.blanks(2 * (level + 1))
    }

    /// Spreads an array or object over lines: its bracket, and the entries that were held back.
    private mutating func breakUp(_ level: Int) {
        if level > 0 {
            becomeParent(level)
            beginLine(of: level - 1)
        }
        text.raw(levels[level].key)
        text.raw(UInt8(ascii: levels[level].isObject ? "{" : "["))
        levels[level].isBroken = true
        levels[level].isEmpty = true
        let entries = levels[level].entries
        levels[level].entries = []
        for kept in entries {
            beginLine(of: level)
            text.raw(kept)
        }
    }

    private mutating func begin(isObject: Bool) {
        levels.append(Level(isObject: isObject, key: entry.bytes))
        entry.removeAll()
    }

    private mutating func end() {
        guard let level = levels.popLast() else { return }
        let (first, last): (UInt8, UInt8) =
            level.isObject
            ? (UInt8(ascii: "{"), UInt8(ascii: "}")) : (UInt8(ascii: "["), UInt8(ascii: "]"))
        entry.removeAll()
        if level.isBroken {
            text.raw("\n")
            text.blanks(2 * levels.count)
            text.raw(last)
            return flushText()
        }
        entry.raw(level.key)
        entry.raw(first)
        for (index, kept) in level.entries.enumerated() {
            if index > 0 { entry.raw(", ") }
            entry.raw(kept)
        }
        entry.raw(last)
        endEntry()
    }

    // MARK: JSONSink

    /// `{`
    package mutating func beginObject() { begin(isObject: true) }
    /// `}`
    package mutating func endObject() { end() }
    /// `[`
    package mutating func beginArray() { begin(isObject: false) }
    /// `]`
    package mutating func endArray() { end() }
    /// Writes the name of the next value; its characters need no escapes.
    package mutating func key(_ name: StaticString) { key(name.description) }
    /// Writes the name of the next value.
    package mutating func key(_ name: String) {
        entry.string(name)
        entry.raw(": ")
    }
    /// `null`
    package mutating func null() {
        entry.null()
        endEntry()
    }
    /// `true` or `false`
    package mutating func bool(_ value: Bool) {
        entry.bool(value)
        endEntry()
    }
    /// Writes an integer.
    package mutating func integer(_ value: Int64) {
        entry.integer(value)
        endEntry()
    }
    /// Writes any other number; one that JSON cannot represent becomes `null`.
    package mutating func number(_ value: Double) {
        entry.number(value)
        endEntry()
    }
    /// Writes a string.
    package mutating func string(_ text: String) {
        entry.string(text)
        endEntry()
    }
    /// Writes a string that needs no escapes.
    package mutating func plain(_ text: some ASCIIText) {
        entry.plain(text)
        endEntry()
    }
}
