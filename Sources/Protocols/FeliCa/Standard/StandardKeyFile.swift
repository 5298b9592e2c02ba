// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
public import CardModel

/// Reads files with keys of FeliCa Standard: Kazasu's own lines, felica-rs's lines of JSON, and felica-dumper's CSV.
///
/// It works on the bytes of the file, so that no copy of a key is left in a text.
extension StandardKeys {
    /// The longest file of keys, in bytes.
    package static let longestFile = 1 << 20

    /// Adds the keys of a file: Kazasu's lines, felica-rs's lines of JSON or felica-dumper's CSV.
    ///
    /// - Parameter file: the whole file, 1 MiB at most; the caller overwrites it.
    /// - Throws: `DocumentError` with the number of the line; nothing of the file's content is in it.
    public mutating func add(file: [UInt8]) throws(DocumentError) {
        guard file.count <= Self.longestFile else { throw .tooLong(bytes: file.count, limit: Self.longestFile) }
        var isTable = false
        var isFirst = true
        var position = file.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        var number = 0
        while position < file.endIndex {
            let end = file[position...].firstIndex(of: 0x0A) ?? file.endIndex
            number += 1
            let line = KeyLine(number: number, bytes: file[position..<end])
            position = end + 1
            guard !line.isEmpty else { continue }
            if isFirst, line.isTableHead {
                isTable = true
            } else if isTable {
                try add(row: line)
            } else if line.content.first == UInt8(ascii: "{") {
                try add(object: line)
            } else {
                try add(words: line)
            }
            isFirst = false
        }
    }

    /// `SYSTEM NODE KEY [VERSION|-] [IDM]`, `SYSTEM group …` or `SYSTEM individual …`.
    private mutating func add(words line: KeyLine) throws(DocumentError) {
        let form = "SYSTEM NODE KEY [VERSION|-] [IDM]"
        var words = line.words
        guard words.count >= 3, let system: SystemCode = KeyLine.code(words.removeFirst()) else {
            throw line.malformed(form)
        }
        switch KeyLine.text(words[0]) {
        case "group"?: return try add(group: Array(words.dropFirst()), in: system, line)
        case "individual"?: return try add(individual: Array(words.dropFirst()), in: system, line)
        default: break
        }
        guard (2...4).contains(words.count), let node: NodeCode = KeyLine.code(words[0]),
            let key = KeyLine.key(words[1])
        else { throw line.malformed(form) }
        var version: KeyVersion?
        if words.count > 2, KeyLine.text(words[2]) != "-" {
            version = KeyLine.code(words[2])
            guard version != nil else { throw line.malformed(form) }
        }
        try add(key, node, system, version, idm(words.dropFirst(3).first, form, line), line)
    }

    /// `AREAS:SERVICES GROUPKEY USERKEY` of DES, or `NODES KEY` of AES.
    private mutating func add(
        group words: [ArraySlice<UInt8>], in system: SystemCode, _ line: KeyLine
    ) throws(DocumentError) {
        let form = "SYSTEM group AREAS:SERVICES GROUPKEY USERKEY"
        let lists = words[0].split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        let codes = lists.compactMap { KeyLine.codes($0) }
        let keys = words.dropFirst().compactMap { KeyLine.key($0) }
        guard codes.count == lists.count, keys.count == words.count - 1 else { throw line.malformed(form) }
        switch (codes.count, keys.count) {
        case (2, 2) where keys.allSatisfy { $0.scheme == .des }:
            guard add(group: keys[0], user: keys[1], areas: codes[0], services: codes[1], in: system) else {
                throw line.notUnique
            }
        case (1, 1) where keys[0].scheme == .aes:
            guard add(group: keys[0], nodes: codes[0], in: system) else { throw line.notUnique }
        default: throw line.malformed(form)
        }
    }

    /// `KEY [IDM]`.
    private mutating func add(
        individual words: [ArraySlice<UInt8>], in system: SystemCode, _ line: KeyLine
    ) throws(DocumentError) {
        let form = "SYSTEM individual KEY [IDM]"
        guard (1...2).contains(words.count), let key = KeyLine.key(words[0]), key.scheme == .aes else {
            throw line.malformed(form)
        }
        guard add(individual: key, in: system, idm: try idm(words.dropFirst().first, form, line)) else {
            throw line.notUnique
        }
    }

    /// A row of felica-dumper: `system_code,node,version,key`, the version in decimal.
    private mutating func add(row line: KeyLine) throws(DocumentError) {
        let form = "system_code,node,version,key"
        let cells = line.content.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map { KeyLine.trimmed($0) }
        guard cells.count == 4, let system: SystemCode = KeyLine.code(cells[0]),
            let node: NodeCode = KeyLine.code(cells[1]), let key = KeyLine.key(cells[3])
        else { throw line.malformed(form) }
        let version = KeyLine.text(cells[2]).flatMap { UInt16($0) }
        guard version != nil || cells[2].isEmpty else { throw line.malformed(form) }
        try add(key, node, system, version.map { KeyVersion(rawValue: $0) }, nil, line)
    }

    /// A line of felica-rs: an object with `system_code`, `node`, `algo`, `version`, `idm` and `key`.
    private mutating func add(object line: KeyLine) throws(DocumentError) {
        let form = #"{"system_code":"…","node":"…","algo":"…","version":"…","idm":"…","key":"…"}"#
        guard let members = FlatObject(line.content)?.members,
            let system: SystemCode = members["system_code"].flatMap({ KeyLine.code($0) }),
            let node: NodeCode = members["node"].flatMap({ KeyLine.code($0) }),
            let key = members["key"].flatMap({ KeyLine.key($0) }),
            let scheme = members["algo"].flatMap({ KeyLine.text($0) }),
            scheme.uppercased() == (key.scheme == .des ? "DES" : "AES")
        else { throw line.malformed(form) }
        var version: KeyVersion?
        if let digits = members["version"] {
            version = KeyLine.code(digits)
            guard version != nil else { throw line.malformed(form) }
        }
        try add(key, node, system, version, idm(members["idm"], form, line), line)
    }

    private mutating func add(
        _ key: StandardKey, _ node: NodeCode, _ system: SystemCode, _ version: KeyVersion?, _ idm: IDm?, _ line: KeyLine
    ) throws(DocumentError) {
        guard add(key, of: node, in: system, version: version, idm: idm) else { throw line.notUnique }
    }

    private func idm(_ word: ArraySlice<UInt8>?, _ form: String, _ line: KeyLine) throws(DocumentError) -> IDm? {
        guard let word else { return nil }
        guard word.count == 16, let idm = KeyLine.text(word).flatMap({ IDm($0) }) else { throw line.malformed(form) }
        return idm
    }
}

/// A line of a file with keys.
private struct KeyLine {
    let number: Int
    let bytes: ArraySlice<UInt8>

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }

    /// The line without blanks around it, and without a comment.
    var content: ArraySlice<UInt8> {
        // An object may have the sign in a text.
        let whole = Self.trimmed(bytes)
        return whole.first == UInt8(ascii: "{") ? whole : Self.trimmed(bytes.prefix { $0 != UInt8(ascii: "#") })
    }

    var isEmpty: Bool { content.isEmpty }

    var words: [ArraySlice<UInt8>] { content.split(whereSeparator: Self.isBlank) }

    /// Whether it is the first line of felica-dumper's CSV.
    var isTableHead: Bool { Self.text(content)?.lowercased() == "system_code,node,version,key" }

    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes.drop(while: isBlank)
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        return bytes
    }

    /// A short word as text, which is never a key of AES; `nil` for a longer one.
    static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        bytes.count <= 32 ? String(validating: bytes, as: UTF8.self) : nil
    }

    static func code<Code: FourDigitCode>(_ bytes: ArraySlice<UInt8>) -> Code? {
        bytes.count <= 6 ? text(bytes).flatMap { Code($0) } : nil
    }

    /// Codes joined with commas.
    static func codes(_ bytes: ArraySlice<UInt8>) -> [NodeCode]? {
        let parts = bytes.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        let codes: [NodeCode] = parts.compactMap { code($0) }
        return codes.count == parts.count ? codes : nil
    }

    /// A key of 16 or 32 hexadecimal digits.
    static func key(_ digits: ArraySlice<UInt8>) -> StandardKey? {
        guard digits.count == 16 || digits.count == 32 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        defer { bytes.wipe() }
        var high: UInt8?
        for digit in digits {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = digit - UInt8(ascii: "A") + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return StandardKey(bytes)
    }

    func malformed(_ form: String) -> DocumentError { .malformedLine(line: number, expected: .init(.form, form)) }

    var notUnique: DocumentError { .malformedLine(line: number, expected: .init(.uniqueKey)) }
}

/// A JSON object whose values are texts without escapes, numbers, true, false or null; it copies nothing.
private struct FlatObject {
    /// The texts by name; a value that is `null` is not there.
    private(set) var members: [String: ArraySlice<UInt8>] = [:]
    private var rest: ArraySlice<UInt8>

    init?(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
        guard take("{") else { return nil }
        var names: Set<String> = []
        repeat {
            guard let name = text(), let key = String(validating: name, as: UTF8.self), names.insert(key).inserted,
                take(":")
            else { return nil }
            skipBlanks()
            if rest.first == UInt8(ascii: "\"") {
                guard let value = text() else { return nil }
                members[key] = value
            } else {
                guard let word = word() else { return nil }
                if word != "null" { members[key] = Array(word.utf8)[...] }
            }
        } while take(",")
        guard take("}") else { return nil }
        skipBlanks()
        guard rest.isEmpty else { return nil }
    }

    private mutating func skipBlanks() { rest = rest.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D } }

    private mutating func take(_ sign: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard rest.first == UInt8(ascii: sign) else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func text() -> ArraySlice<UInt8>? {
        guard take("\""), let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        let text = rest[..<end]
        guard !text.contains(where: { $0 == UInt8(ascii: "\\") || $0 < 0x20 }) else { return nil }
        rest = rest[end...].dropFirst()
        return text
    }

    /// A number, or one of the three names.
    private mutating func word() -> String? {
        let word = rest.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "}") && $0 > 0x20 }
        rest = rest[word.endIndex...]
        guard let text = KeyLine.text(word), ["null", "true", "false"].contains(text) || Double(text) != nil else {
            return nil
        }
        return text
    }
}
