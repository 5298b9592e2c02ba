// SPDX-License-Identifier: Apache-2.0

/// A text of JIS X 0208 as a card holds it: two bytes a character, without escapes and without the high bit.
///
/// Whatever the bytes are, nothing is lost: what is no character keeps its place as a part of its own.
///
/// Source of the private codes: the licence's layout as libjeid's sample application and the public readers have it.
public struct JISText: Hashable, Sendable {
    /// The parts in order; two neighbours are never both characters of the standard.
    public let runs: [JISRun]

    /// The text of some bytes.
    public init(decoding bytes: some Collection<UInt8>) {
        var runs: [JISRun] = []
        var text = ""
        func endText() {
            if !text.isEmpty { runs.append(.text(text)) }
            text = ""
        }
        var rest = bytes.makeIterator()
        while let first = rest.next() {
            guard let second = rest.next() else {
                endText()
                runs.append(.strayByte(first))
                break
            }
            let code = UInt16(first) << 8 | UInt16(second)
            if let character = JISX0208.character(code) {
                text.unicodeScalars.append(character)
                continue
            }
            endText()
            switch code {
            case 0xFFF1...0xFFF7: runs.append(.externalCharacter(Int(code - 0xFFF0)))
            case 0xFFFA: runs.append(.missingCharacter)
            default: runs.append(.unassigned(code))
            }
        }
        endText()
        self.runs = runs
    }

    /// Whether there is nothing.
    public var isEmpty: Bool { runs.isEmpty }

    /// Whether every two bytes are a character of the standard.
    public var isPlain: Bool {
        runs.allSatisfy { if case .text = $0 { true } else { false } }
    }

    /// The text without blanks: cards write `優　良` for 優良.
    var unspaced: String { String(description.filter { !$0.isWhitespace }) }

    /// The numbers of the 外字 in it, each once, in the order in which they occur.
    public var externalCharacters: [Int] {
        var numbers: [Int] = []
        for case .externalCharacter(let number) in runs where !numbers.contains(number) { numbers.append(number) }
        return numbers
    }
}

extension JISText: CustomStringConvertible {
    /// The text; 外字 are `{外字1}` to `{外字7}`, 欠字 `{欠字}`, other codes their four hexadecimal digits in braces.
    public var description: String { runs.map(\.text).joined() }
}
