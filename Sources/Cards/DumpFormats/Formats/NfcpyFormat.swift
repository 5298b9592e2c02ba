// SPDX-License-Identifier: Apache-2.0

import ByteCodec
package import CardModel

/// The output of nfcpy's `tag.dump()`, with or without the preceding line that describes the tag.
///
/// Source: nfcpy `src/nfc/tag/tt3.py`, `tt3_sony.py`. Codes are in the usual notation, high byte first; a line with an
/// asterisk stands for blocks equal to the one before it. For a FeliCa Lite, the numbers are decimal. Blocks that somebody
/// covered with `XX` before publishing are left out. Pages of Type 2 Tags are read by ``NfcpyTag``.
package struct NfcpyFormat: DumpFormat {
    package init() {}
    package var id: String { "nfcpy" }
    package var name: LocalizedText { LocalizedText("nfcpy dump", "nfcpy のダンプ") }

    /// Recognizes a system, area or service line in nfcpy's wording, or a block beside its characters.
    package func recognizes(_ source: DumpSource) -> Bool {
        source.head.contains { line in
            switch NfcpyLine(line) {
            case .system, .area, .service, .tag: true
            case .block(_, _, let isDecimal): line.text.hasSuffix("|") || isDecimal && line.text.hasSuffix(")")
            case .same, .other: NfcpyTag.recognizes(line)
            }
        }
    }

    package func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        if source.head.contains(where: { NfcpyTag.recognizes($0) }) { return [try NfcpyTag.read(source.lines)] }
        var reader = NfcpyReader()
        for line in source.lines { try reader.read(line) }
        return [try reader.finish()]
    }
}

/// A line of nfcpy's `tag.dump()`.
enum NfcpyLine {
    /// `Type3Tag '…' ID=… PMM=… SYS=…`.
    case tag([Substring: Substring])
    /// `System 0003 (Suica)`.
    case system(Substring)
    /// `Area 0040--07FF`.
    case area(Substring, Substring)
    /// `Random Service 2: … (0x0088 0x008B)`.
    case service([Substring])
    /// `0000: xx … |…|`, or `  0: xx … |…|` with a decimal number.
    case block(number: Substring, bytes: [Substring], isDecimal: Bool)
    /// `*     xx … |…|`.
    case same
    case other

    /// Whether a byte was not read (`??`) or was covered by somebody (`XX`).
    static func isUnknown(_ word: Substring) -> Bool { word == "??" || word == "XX" || word == "xx" || word == "**" }

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
            // The numbers of a FeliCa Lite are decimal and not padded, those of services have four digits.
            self = .block(number: number, bytes: Array(words[1...16]), isDecimal: number.utf8.count < 4)
        } else {
            self = .other
        }
    }
}

/// Reads the lines of nfcpy's `tag.dump()`.
struct NfcpyReader {
    /// The maximum number of blocks that asterisk lines can stand for in one file.
    private static let mostRepeated = 1 << 20

    private var card = ImportedCard()
    private var systemOfTag: SystemCode?
    private var service: ServiceCode?
    /// The last block; its contents are `nil` if they are covered.
    private var previous: (number: UInt16, block: Block?)?
    private var isRepeated = false
    private var repeated = 0
    private var lastLine = TextLine(number: 1, bytes: [])

    mutating func read(_ line: TextLine) throws(DocumentError) {
        lastLine = line
        let content = NfcpyLine(line)
        if case .block = content {} else if isRepeated { throw line.malformed(.blockAfterAsterisk) }
        switch content {
        case .tag(let fields):
            if let idm = fields["ID"] { card.idm = try line.idm(idm) }
            if let pmm = fields["PMM"] { card.pmm = try line.pmm(pmm) }
            if let code = fields["SYS"] { systemOfTag = try line.code(code) }
        case .system(let code):
            card.systems.append(ImportedSystem(code: try line.code(code)))
            (service, previous) = (nil, nil)
        case .area(let start, let end):
            let system = last()
            card.systems[system].areas.append(AreaDump(start: try line.code(start), end: try line.code(end)))
        case .service(let words): try readService(words, line)
        case .block(let number, let bytes, let isDecimal): try readBlock(number, bytes, isDecimal, line)
        case .same:
            guard previous != nil else { throw line.malformed(.blockBeforeAsterisk) }
            isRepeated = true
        case .other:
            if !line.text.isEmpty, card.systems.last?.count(of: service ?? FlipperLite.service) ?? 0 > 0 {
                throw line.malformed(.nfcpyLine)
            }
        }
    }

    /// Reads services with the same number; nfcpy reads the blocks with the last one that needs no key.
    private mutating func readService(_ words: [Substring], _ line: TextLine) throws(DocumentError) {
        let system = last()
        var codes: [ServiceCode] = []
        for word in words {
            guard word.hasPrefix("0x") else { throw line.malformed(.prefixedCodes) }
            codes.append(try line.code(word.dropFirst(2)))
        }
        for code in codes { card.systems[system].note(code) }
        let open = codes.filter { !$0.requiresAuthentication }
        (service, previous) = (open.last, nil)
        for code in open.dropLast() {
            card.systems[system].note(code, state: .skipped) { $0.sameAs = open.last.map { SameBlocks($0) } }
        }
    }

    private mutating func readBlock(
        _ number: Substring, _ bytes: [Substring], _ isDecimal: Bool, _ line: TextLine
    ) throws(DocumentError) {
        let index: UInt16
        if isDecimal {
            guard let decimal = BlockIndex(decimal: number) else { throw line.malformed(.blockNumber) }
            index = decimal.rawValue
        } else {
            index = try line.number16(number)
        }
        if card.systems.isEmpty {
            // Without a system line it is a FeliCa Lite or an NFC Forum tag, for which nfcpy lists no services.
            card.systems.append(ImportedSystem(code: systemOfTag ?? (isDecimal ? .lite : .ndef)))
        }
        let service = self.service ?? FlipperLite.service
        let system = card.systems.count - 1
        if bytes.contains("??") {
            // A block that could not be read: on a FeliCa Lite, one that needs authentication.
            card.systems[system].note(service)
            return
        }
        let isCovered = bytes.contains { NfcpyLine.isUnknown($0) }
        let block = isCovered ? nil : try line.block(bytes.joined(separator: " "))
        if isRepeated, let previous {
            guard index > previous.number else { throw line.malformed(.largerBlockNumber) }
            repeated += Int(index - previous.number)
            guard repeated <= NfcpyReader.mostRepeated else { throw line.malformed(.fewerRepeats) }
            if let block = previous.block {
                for number in previous.number + 1..<index {
                    try card.systems[system].add(block, at: number, of: service, or: line.malformed(.uniqueBlock))
                }
            }
        }
        isRepeated = false
        previous = (index, block)
        if let block {
            try card.systems[system].add(block, at: index, of: service, or: line.malformed(.uniqueBlock))
        } else {
            card.complete = false
            card.systems[system].note(service) { $0.isMasked = true }
        }
    }

    private mutating func last() -> Int {
        if card.systems.isEmpty { card.systems.append(ImportedSystem(code: systemOfTag)) }
        return card.systems.count - 1
    }

    func finish() throws(DocumentError) -> CardDump {
        guard !isRepeated else { throw lastLine.malformed(.blockAfterAsterisk) }
        guard !card.systems.isEmpty else { throw lastLine.malformed(.systemOrBlock) }
        return try card.dump(unnamed: lastLine.malformed(.systemLine))
    }
}
