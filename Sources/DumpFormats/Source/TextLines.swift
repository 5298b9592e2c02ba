// SPDX-License-Identifier: Apache-2.0

/// The lines of a text one after another, without their ends (LF or CR LF) and without a byte order mark.
///
/// Nothing is copied: a text of 64 MiB of line ends would else be far larger as a list of lines.
struct TextLines: Sequence, IteratorProtocol {
    private let bytes: [UInt8]
    private var position: Int
    private var number = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    mutating func next() -> TextLine? {
        guard position < bytes.endIndex else { return nil }
        let end = bytes[position...].firstIndex(of: 0x0A) ?? bytes.endIndex
        var line = bytes[position..<end]
        if line.last == 0x0D { line.removeLast() }
        position = end + 1
        number += 1
        return TextLine(number: number, bytes: line)
    }

    /// Whether the first thing that stands in it is a tag of XML and not, as in a log, an arrow.
    var looksLikeXML: Bool {
        let first = lazy.map(\.text).first { !$0.isEmpty } ?? ""
        let next = first.utf8.dropFirst().first ?? 0x20
        return next == UInt8(ascii: "?") || next == UInt8(ascii: "!") || UInt8(ascii: "a")...UInt8(ascii: "z") ~= next
    }
}
