// SPDX-License-Identifier: Apache-2.0

import Kazasu

/// The filter that every text for display passes before output. Names on cards, of files and of other users' processes
/// may hold characters that control a terminal, or that change the order in which a line is read. They are shown as
/// `\u{202E}`.
///
/// JSON is escaped by its writer, by JSON's rules.
package enum VisibleText {
    /// Escapes text of several lines: line ends stay.
    ///
    /// - Parameter keepingColors: whether the codes of ``Color`` stay, too.
    package static func lines(_ text: String, keepingColors: Bool = false) -> String {
        guard keepingColors, text.utf8.contains(0x1B) else {
            return HiddenCharacters.escaped(text, keepingLineEnds: true)
        }
        let codes = (Color.allCases.map(\.rawValue) + ["0"]).map { "[\($0)m" }
        var result = ""
        for (index, piece) in text.split(separator: "\u{1B}", omittingEmptySubsequences: false).enumerated() {
            let code = index == 0 ? nil : codes.first { piece.hasPrefix($0) }
            if index > 0 {
                result += code.map { "\u{1B}\($0)" } ?? HiddenCharacters.escaped("\u{1B}", keepingLineEnds: true)
            }
            result += HiddenCharacters.escaped(String(piece.dropFirst(code?.count ?? 0)), keepingLineEnds: true)
        }
        return result
    }

    /// Escapes one line, or a part of one. Line ends are escaped as well, so that nothing can pass for a separate line.
    package static func line(_ text: String) -> String { HiddenCharacters.escaped(text, keepingLineEnds: false) }
}

/// Quotes texts in the commands that hints show, so that they can be pasted into a shell.
package enum ShellWord {
    /// A file name or another text as one word of a POSIX shell; plain ones stay unchanged.
    ///
    /// A name that begins with a hyphen is prefixed with `./`, so that no program parses it as an option.
    package static func quoted(_ text: String) -> String {
        let text = text.hasPrefix("-") && text != "-" ? "./" + text : text
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "@%+=:,./-_".utf8.contains(byte)
            }
        }
        return isPlain && !text.isEmpty ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
