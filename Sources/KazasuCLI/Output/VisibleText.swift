// SPDX-License-Identifier: Apache-2.0

import CardModel

/// The gate that every text for people passes on its way out: names on cards, of files, of other users' processes may
/// hold characters that a terminal obeys, or that change the order in which a line is read. They are shown as `\u{202E}`.
///
/// JSON is escaped by its writer, in the way of JSON.
enum VisibleText {
    /// Text of several lines: line ends stay.
    static func lines(_ text: String) -> String { escaped(text, keepingLineEnds: true) }

    /// One line, or a part of one: line ends are escaped as well, so that nothing can pretend to be a line of its own.
    static func line(_ text: String) -> String { escaped(text, keepingLineEnds: false) }

    private static func escaped(_ text: String, keepingLineEnds: Bool) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "\n") ? keepingLineEnds : !HiddenCharacters.mayBegin(with: byte)
        }
        if isPlain { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == "\n", keepingLineEnds {
                result.append(scalar)
            } else if HiddenCharacters.contains(scalar) {
                result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }
}
