// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardCiphers
internal import CardCrypto
public import CardModel

/// The keys of an NTAG 424 DNA, by number.
///
/// Keys come from a file and are in no output, log, trace or journal.
public struct TagKeys: SecretValue {
    struct Entry {
        let key: SecretBytes
        let version: UInt8
        /// Whether it is the factory's, sixteen zeros.
        let isFactory: Bool
    }

    private(set) var entries: [UInt8: Entry] = [:]

    /// The longest file, in bytes.
    package static let longestFile = 1 << 14

    /// Makes a collection without keys.
    public init() {}

    /// The factory's: sixteen zeros for each of the five.
    public static var factory: TagKeys {
        var keys = TagKeys()
        for number in 0...4 as ClosedRange<UInt8> { keys.entries[number] = Entry(zeros: 0) }
        return keys
    }

    /// The numbers of the keys, ascending.
    public var numbers: [UInt8] { entries.keys.sorted() }

    /// Whether a key is the factory's.
    func isFactory(_ number: UInt8) -> Bool { entries[number]?.isFactory ?? true }

    /// Whether two collections have the same key of a number.
    func isSame(_ number: UInt8, as other: TagKeys) -> Bool {
        guard let own = entries[number]?.key, let key = other.entries[number]?.key else { return false }
        return unsafe own.withUnsafeBytes { own in
            unsafe key.withUnsafeBytes { unsafe own.elementsEqual($0) }
        }
    }

    /// Takes the factory's key where there is none.
    package func completed() -> TagKeys {
        var keys = self
        keys.entries.merge(Self.factory.entries) { own, _ in own }
        return keys
    }

    /// The bytes of a key, for a rehearsal.
    package func bytes(_ number: UInt8) -> [UInt8]? {
        entries[number].map { entry in unsafe entry.key.withUnsafeBytes { unsafe Array($0) } }
    }

    /// The key that a tag is opened with.
    func secret(_ number: UInt8) throws(TagError) -> SecretBytes {
        guard let entry = entries[number] else { throw .key(.noSuchKey(number)) }
        return entry.key
    }

    /// The version of a key.
    package func version(_ number: UInt8) -> UInt8? { entries[number]?.version }

    func aes(_ number: UInt8) throws(TagError) -> AESKey {
        guard CryptoError.isLibraryThere else { throw .crypto(.libraryMissing) }
        let key = try secret(number)
        do throws(CryptoError) {
            return try AESKey(key)
        } catch {
            throw .crypto(error)
        }
    }

    // MARK: Files

    /// Adds the keys of a file: lines of `N KEY [VERSION]`, where KEY has 32 hexadecimal digits or is `factory`, and VERSION
    /// two; `#` begins a comment.
    ///
    /// - Throws: `DocumentError` with the line; the key is not in it.
    public mutating func add(file: [UInt8]) throws(DocumentError) {
        guard file.count <= Self.longestFile else { throw .tooLong(bytes: file.count, limit: Self.longestFile) }
        let body = file.starts(with: [0xEF, 0xBB, 0xBF]) ? file.dropFirst(3) : file[...]
        for (place, line) in body.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            let content = line.prefix { $0 != UInt8(ascii: "#") }
            let words = content.split { [0x20, 0x09, 0x0D].contains($0) }
            guard !words.isEmpty else { continue }
            guard let (number, entry) = Self.entry(words) else {
                throw .malformedLine(line: place + 1, expected: .init(.form, "N KEY [VERSION]"))
            }
            guard entries[number] == nil else { throw .malformedLine(line: place + 1, expected: .init(.uniqueKey)) }
            entries[number] = entry
        }
    }

    private static func entry(_ words: [ArraySlice<UInt8>]) -> (UInt8, Entry)? {
        guard (2...3).contains(words.count), words[0].count == 1, let digit = words[0].first,
            (UInt8(ascii: "0")...UInt8(ascii: "4")).contains(digit)
        else { return nil }
        let number = digit - UInt8(ascii: "0")
        let isFactory = words[1].elementsEqual("factory".utf8)
        var version: UInt8 = isFactory ? 0 : 1
        if words.count == 3 {
            guard let bytes = hex(words[2]), bytes.count == 1 else { return nil }
            version = bytes[0]
        }
        if isFactory { return (number, Entry(zeros: version)) }
        guard var bytes = hex(words[1]), bytes.count == AESKey.blockLength else { return nil }
        defer { bytes.wipe() }
        return (number, Entry(bytes, version: version))
    }

    private static func hex(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        var high: UInt8?
        for digit in digits {
            guard let value = Hex.value(of: digit) else { return nil }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return bytes
    }

    // MARK: Diversification

    /// The keys of one tag, derived from these as masters (AN10922, AES-128); the factory's stay.
    ///
    /// - Parameter input: UID and what else belongs to it, at most 31 bytes.
    /// - Throws: ``TagError/crypto(_:)``.
    public func diversified(_ input: [UInt8]) throws(TagError) -> TagKeys {
        guard CryptoError.isLibraryThere else { throw .crypto(.libraryMissing) }
        var keys = self
        do throws(CryptoError) {
            for (number, entry) in entries where !entry.isFactory {
                var derived = try Diversification.aes(AESKey(entry.key), input)
                keys.entries[number] = Entry(derived, version: entry.version)
                derived.wipe()
            }
        } catch {
            throw .crypto(error)
        }
        return keys
    }
}

extension TagKeys.Entry {
    fileprivate init(zeros version: UInt8) {
        self.init([UInt8](repeating: 0, count: AESKey.blockLength), version: version)
    }

    fileprivate init(_ bytes: [UInt8], version: UInt8) {
        (key, self.version, isFactory) = (SecretBytes(bytes), version, bytes.allSatisfy { $0 == 0 })
    }
}

/// What a journal knows keys by: the first eight bytes of a CMAC over random data and the key's number.
package struct TagKeyCheck: Hashable, Sendable {
    /// Sixteen random bytes.
    package let salt: [UInt8]
    /// Eight bytes by key number.
    package let values: [UInt8: [UInt8]]

    package init?(salt: [UInt8], values: [UInt8: [UInt8]]) {
        guard salt.count == 16, values.values.allSatisfy({ $0.count == 8 }) else { return nil }
        (self.salt, self.values) = (salt, values)
    }

    /// Makes the values of keys.
    package init(_ keys: TagKeys, salt: [UInt8] = (0..<16).map { _ in .random(in: .min ... .max) }) throws(TagError) {
        var values: [UInt8: [UInt8]] = [:]
        for number in keys.numbers {
            let key = try keys.aes(number)
            do throws(CryptoError) {
                values[number] = Array(try key.cmac(salt + [number]).prefix(8))
            } catch {
                throw .crypto(error)
            }
        }
        (self.salt, self.values) = (salt, values)
    }

    /// The first key that is another one than the journal's; `nil` if all are the same.
    func firstOther(_ keys: TagKeys) throws(TagError) -> UInt8? {
        let own = try TagKeyCheck(keys, salt: salt)
        return Set(values.keys).union(own.values.keys).sorted().first { values[$0] != own.values[$0] }
    }
}
