// SPDX-License-Identifier: Apache-2.0

/// A line `NNNN:BBBB…`: two numbers of four hexadecimal digits with a colon between them, then the rest.
struct ColonLine {
    let first: Substring
    let second: Substring
    /// The character after the second number.
    let separator: Character
    /// What follows that character.
    let rest: Substring

    /// `nil` for a line of another form.
    init?(_ text: String) {
        let utf8 = text.utf8
        guard utf8.count > 10 else { return nil }
        let fifth = utf8.index(utf8.startIndex, offsetBy: 4)
        let tenth = utf8.index(fifth, offsetBy: 5)
        guard utf8[fifth] == UInt8(ascii: ":"), tenth < utf8.endIndex, utf8[tenth] == 0x20 || utf8[tenth] == 0x3A else {
            return nil
        }
        first = text[..<fifth]
        second = text[utf8.index(after: fifth)..<tenth]
        separator = text[tenth]
        rest = text[utf8.index(after: tenth)...]
        guard (first + second).utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
    }
}
