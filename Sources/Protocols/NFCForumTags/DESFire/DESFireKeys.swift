// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardCiphers
public import CardModel

/// The keys of a DESFire, by application and number.
///
/// Keys come from a file and are in no output, log or trace.
public struct DESFireKeys: SecretValue {
    /// A key; `nil` for the factory's, zeros of the length that the application's keys have.
    private var entries: [DESFireApplicationID: [UInt8: SecretBytes?]] = [:]

    /// The longest file, in bytes.
    package static let longestFile = 1 << 16

    /// Makes a collection without keys.
    public init() {}

    /// The key of an application, for keys of a type; `nil` if there is none.
    func key(_ number: UInt8, of application: DESFireApplicationID, _ type: DESFireKeyType?) -> DESFireKey? {
        guard let entry = entries[application]?[number] else { return nil }
        if let secret = entry {
            let key = DESFireKey(secret, number: number)
            return type.map { type in key?.fits(type) ?? false } ?? true ? key : nil
        }
        return DESFireKey([UInt8](repeating: 0, count: (type ?? .aes).keyLength), number: number)
    }

    /// Adds the keys of a file: lines of `AID N KEY [VERSION]`, where AID is `picc` for the card itself, KEY has 16, 32 or 48
    /// hexadecimal digits or is `factory`, and VERSION two digits; `#` begins a comment.
    ///
    /// - Throws: `DocumentError` with the line; the key is not in it.
    public mutating func add(file: [UInt8]) throws(DocumentError) {
        guard file.count <= Self.longestFile else { throw .tooLong(bytes: file.count, limit: Self.longestFile) }
        let body = file.starts(with: [0xEF, 0xBB, 0xBF]) ? file.dropFirst(3) : file[...]
        for (place, line) in body.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            let words = line.prefix { $0 != UInt8(ascii: "#") }.split { [0x20, 0x09, 0x0D].contains($0) }
            guard !words.isEmpty else { continue }
            guard let (application, number, key) = Self.entry(words) else {
                throw .malformedLine(line: place + 1, expected: .init(.form, "AID N KEY [VERSION]"))
            }
            guard entries[application]?[number] == nil else {
                throw .malformedLine(line: place + 1, expected: .init(.uniqueKey))
            }
            entries[application, default: [:]][number] = .some(key)
        }
    }

    private static func entry(
        _ words: [ArraySlice<UInt8>]
    ) -> (DESFireApplicationID, UInt8, SecretBytes?)? {
        guard (3...4).contains(words.count), let number = UInt8(String(decoding: words[1], as: UTF8.self)), number <= 13
        else { return nil }
        let name = String(decoding: words[0], as: UTF8.self)
        guard let application = name == "picc" ? .card : DESFireApplicationID(name) else { return nil }
        if words.count == 4 {
            guard words[3].count == 2, words[3].allSatisfy({ Hex.value(of: $0) != nil }) else { return nil }
        }
        if words[2].elementsEqual("factory".utf8) { return (application, number, nil) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(words[2].count / 2)
        defer { bytes.wipe() }
        var high: UInt8?
        for digit in words[2] {
            guard let value = Hex.value(of: digit) else { return nil }
            if let first = high { bytes.append(first << 4 | value) }
            high = high == nil ? value : nil
        }
        guard high == nil, [8, 16, 24].contains(bytes.count), let key = DESFireKey(SecretBytes(bytes), number: number)
        else { return nil }
        return (application, number, key.secret)
    }
}
