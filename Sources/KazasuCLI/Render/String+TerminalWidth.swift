// SPDX-License-Identifier: Apache-2.0

extension String {
    /// How many places the text takes on a terminal: East Asian wide and full-width letters take two, combining
    /// marks none (Unicode TR 11, the blocks that occur in Japanese text).
    var terminalWidth: Int {
        unicodeScalars.reduce(0) { $0 + $1.terminalWidth }
    }

    /// The text cut into pieces of at most `width` places; a letter is never cut.
    func lines(width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        var taken = 0
        for letter in self {
            let places = String(letter).terminalWidth
            if taken + places > width, !line.isEmpty {
                lines.append(line)
                (line, taken) = ("", 0)
            }
            line.append(letter)
            taken += places
        }
        return line.isEmpty ? lines : lines + [line]
    }
}

extension Unicode.Scalar {
    fileprivate var terminalWidth: Int {
        switch value {
        case 0x0300...0x036F, 0x200B...0x200F, 0x3099...0x309A, 0xFE00...0xFE0F: 0
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE4F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            2
        default: 1
        }
    }
}
