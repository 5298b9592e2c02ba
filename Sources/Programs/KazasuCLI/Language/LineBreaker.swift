// SPDX-License-Identifier: Apache-2.0

import Kazasu

/// Breaks text into lines by terminal columns.
package enum LineBreaker {
    /// Characters that must not begin a line.
    private static let closing = Set("。、，．・：；！？）］｝」』】〉》ーぁぃぅぇぉっゃゅょァィゥェォッャュョ々)]},.:;!?")
    /// Characters that must not end a line.
    private static let opening = Set("（［｛「『【〈《([{")

    /// Two lines as one: without a space between two wide characters, and beside wide punctuation.
    package static func joined(_ first: String, _ second: String) -> String {
        guard let last = first.last, let next = second.first else { return first + second }
        let wide = [last, next].map { String($0).terminalWidth == 2 }
        let isTight = wide == [true, true] || wide[0] && closing.contains(last) || wide[1] && opening.contains(next)
        return first + (isTight || last == " " ? "" : " ") + second
    }

    /// The text in lines of at most `width` columns; a longer word has a line of its own.
    package static func lines(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for piece in pieces(text) {
            let trimmed = piece.hasSuffix(" ") ? String(piece.dropLast()) : piece
            if !line.isEmpty, line.terminalWidth + trimmed.terminalWidth > width {
                while line.hasSuffix(" ") { line.removeLast() }
                lines.append(line)
                line = ""
            }
            line += piece
        }
        while line.hasSuffix(" ") { line.removeLast() }
        return lines + [line]
    }

    /// The parts between which a line may end: words with the space behind them, and single wide characters.
    private static func pieces(_ text: String) -> [String] {
        var pieces: [String] = []
        for character in text {
            let previous = pieces.last?.last ?? " "
            let isBoundary =
                previous == " " || String(previous).terminalWidth == 2 || String(character).terminalWidth == 2
            if pieces.isEmpty
                || isBoundary && character != " " && !closing.contains(character) && !opening.contains(previous)
            {
                pieces.append(String(character))
            } else {
                pieces[pieces.count - 1].append(character)
            }
        }
        return pieces
    }
}
