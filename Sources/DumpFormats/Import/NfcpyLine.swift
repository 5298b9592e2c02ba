// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel

/// A line of nfcpy's `tag.dump()`.
enum NfcpyLine {
    /// `Type3Tag '…' ID=… PMM=… SYS=…`
    case tag([Substring: Substring])
    /// `System 0003 (Suica)`
    case system(Substring)
    /// `Area 0040--07FF`
    case area(Substring, Substring)
    /// `Random Service 2: … (0x0088 0x008B)`
    case service([Substring])
    /// `0000: xx … |…|`, or `  0: xx … |…|` with a decimal number
    case block(number: Substring, bytes: [Substring], isDecimal: Bool)
    /// `*     xx … |…|`
    case same
    case other

    init(_ line: TextLine) {
        let text = line.text
        let words = text.words
        guard let first = words.first else {
            self = .other
            return
        }
        if text.hasPrefix("Type3Tag ") {
            let pairs = words.compactMap { word -> (Substring, Substring)? in
                guard let equals = word.firstIndex(of: "=") else { return nil }
                return (word[..<equals], word[word.index(after: equals)...])
            }
            self = .tag(Dictionary(pairs) { first, _ in first })
        } else if first == "System", let code = words.element(at: 1), code.utf8.count == 4, text.hasSuffix(")") {
            self = .system(code)
        } else if first == "Area", words.count == 2, words[1].utf8.count == 10, words[1].dropFirst(4).hasPrefix("--") {
            self = .area(words[1].prefix(4), words[1].suffix(4))
        } else if ["Random", "Cyclic", "Purse"].contains(first), words.element(at: 1) == "Service",
            let open = text.lastIndex(of: "("), text.hasSuffix(")")
        {
            self = .service(text[text.index(after: open)...].dropLast().words)
        } else if first == "*", words.count > 16 {
            self = .same
        } else if first.last == ":", words.count > 16, words[1...16].allSatisfy({ $0.utf8.count == 2 }) {
            let number = first.dropLast()
            // The numbers of a FeliCa Lite are decimal and not filled up, those of services have four digits.
            self = .block(number: number, bytes: Array(words[1...16]), isDecimal: number.utf8.count < 4)
        } else {
            self = .other
        }
    }
}
