// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardCiphers
internal import CardCrypto
public import CardModel

/// The keys of a DESFire, by application and number.
///
/// Keys come from a file and are in no output, log or trace.
public struct DESFireKeys: SecretValue {
    struct Entry {
        /// `nil` for the factory's: zeros of the length that the application's keys have.
        let secret: SecretBytes?
        /// `nil` if the file does not say.
        let version: UInt8?
    }

    private(set) var entries: [DESFireApplicationID: [UInt8: Entry]] = [:]
    /// What the keys of one card are derived from, if these are masters.
    private(set) var input: [UInt8]?

    /// The longest file, in bytes.
    package static let longestFile = 1 << 16

    /// Makes a collection without keys.
    public init() {}

    /// The keys of one card, derived from these as masters (AN10922); the factory's stay.
    ///
    /// - Parameter input: UID and what else belongs to it: at most 31 bytes, and 15 for DES and Triple DES.
    public func diversified(_ input: [UInt8]) -> DESFireKeys {
        var keys = self
        keys.input = input
        return keys
    }

    /// The numbers of an application's keys, ascending.
    public func numbers(of application: DESFireApplicationID) -> [UInt8] {
        (entries[application] ?? [:]).keys.sorted()
    }

    /// The applications that have a key here, ascending, without the card itself.
    package var applications: [DESFireApplicationID] {
        entries.keys.filter { $0 != .card }.sorted { $0.rawValue < $1.rawValue }
    }

    /// The key of an application, for keys of a type; `nil` if there is none.
    func key(_ number: UInt8, of application: DESFireApplicationID, _ type: DESFireKeyType?) -> DESFireKey? {
        guard let entry = entries[application]?[number] else { return nil }
        guard let secret = entry.secret else {
            return DESFireKey([UInt8](repeating: 0, count: (type ?? .aes).keyLength), number: number)
        }
        guard var key = DESFireKey(secret, number: number), type.map({ key.fits($0) }) ?? true else { return nil }
        if let input { key = key.diversified(input) }
        key.parity = entry.version
        return key
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
            guard let (application, number, entry) = Self.entry(words) else {
                throw .malformedLine(line: place + 1, expected: .init(.form, "AID N KEY [VERSION]"))
            }
            guard entries[application]?[number] == nil else {
                throw .malformedLine(line: place + 1, expected: .init(.uniqueKey))
            }
            entries[application, default: [:]][number] = entry
        }
    }

    private static func entry(
        _ words: [ArraySlice<UInt8>]
    ) -> (DESFireApplicationID, UInt8, Entry)? {
        guard (3...4).contains(words.count), let number = UInt8(String(decoding: words[1], as: UTF8.self)), number <= 13
        else { return nil }
        let name = String(decoding: words[0], as: UTF8.self)
        guard let application = name == "picc" ? .card : DESFireApplicationID(name) else { return nil }
        var version: UInt8?
        if words.count == 4 {
            guard words[3].count == 2, words[3].allSatisfy({ Hex.value(of: $0) != nil }) else { return nil }
            version = UInt8(String(decoding: words[3], as: UTF8.self), radix: 16)
        }
        if words[2].elementsEqual("factory".utf8) { return (application, number, Entry(secret: nil, version: version)) }
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
        return (application, number, Entry(secret: key.secret, version: version))
    }

    /// The card's master key as it was made, which a reset gives back.
    package static var factoryCard: DESFireKeys {
        var keys = DESFireKeys()
        keys.entries[.card] = [0: Entry(secret: nil, version: nil)]
        return keys
    }

    /// Whether a file has the form of these keys, and not that of an NTAG 424 DNA, whose lines begin with a number.
    package static func hasForm(_ file: [UInt8]) -> Bool {
        for line in file.split(separator: 0x0A) {
            let words = line.prefix { $0 != UInt8(ascii: "#") }.split { [0x20, 0x09, 0x0D].contains($0) }
            guard let first = words.first else { continue }
            return first.count == 6 || first.elementsEqual("picc".utf8)
        }
        return false
    }
}

/// The place of a key: its application, which is 000000 for the card itself, and its number.
public struct DESFireKeyID: Hashable, Sendable, CustomStringConvertible {
    /// The application; 000000 for the card itself.
    public let application: DESFireApplicationID
    /// 0 to 13.
    public let number: UInt8

    init(_ application: DESFireApplicationID, _ number: UInt8) {
        (self.application, self.number) = (application, number)
    }

    /// The card's master key.
    static let master = DESFireKeyID(.card, 0)

    /// Reads what ``description`` writes; `nil` for anything else.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let application = DESFireApplicationID(parts[0]), let number = UInt8(parts[1]),
            number <= 13
        else { return nil }
        self.init(application, number)
    }

    /// As in `F5A1C0:1`.
    public var description: String { "\(application):\(number)" }
}

/// What a journal knows keys by: the first eight bytes of a CMAC over random data, the key's place, and what is not the key of
/// the CMAC.
package struct DESFireKeyCheck: Hashable, Sendable {
    /// Sixteen random bytes.
    package let salt: [UInt8]
    /// Eight bytes by key.
    package let values: [DESFireKeyID: [UInt8]]

    package init?(salt: [UInt8], values: [DESFireKeyID: [UInt8]]) {
        guard salt.count == 16, values.values.allSatisfy({ $0.count == 8 }) else { return nil }
        (self.salt, self.values) = (salt, values)
    }

    /// Makes the values of keys; masters and what one card's keys are derived from count together.
    package init(
        _ keys: DESFireKeys, salt: [UInt8] = (0..<16).map { _ in .random(in: .min ... .max) }
    ) throws(DESFireError) {
        guard CryptoError.isLibraryThere else { throw .tag(.crypto(.libraryMissing)) }
        var values: [DESFireKeyID: [UInt8]] = [:]
        for (application, entries) in keys.entries {
            for (number, entry) in entries {
                var bytes =
                    entry.secret.map { secret in unsafe secret.withUnsafeBytes { unsafe Array($0) } }
                    ?? [UInt8](repeating: 0, count: AESKey.blockLength)
                let version: [UInt8] = [number, entry.version ?? 0, entry.version == nil ? 0 : 1]
                var message = salt + application.bytes + version
                message += bytes.dropFirst(AESKey.blockLength) + (keys.input ?? [])
                defer {
                    bytes.wipe()
                    message.wipe()
                }
                do throws(CryptoError) {
                    let key = try AESKey(SecretBytes(bytes.prefix(AESKey.blockLength)))
                    values[DESFireKeyID(application, number)] = Array(try key.cmac(message).prefix(8))
                } catch {
                    throw .tag(.crypto(error))
                }
            }
        }
        (self.salt, self.values) = (salt, values)
    }

    /// The first key that is another one than the journal's; `nil` if all are the same.
    func firstOther(_ keys: DESFireKeys) throws(DESFireError) -> DESFireKeyID? {
        let own = try DESFireKeyCheck(keys, salt: salt)
        return Set(values.keys).union(own.values.keys).sorted { $0.description < $1.description }
            .first { values[$0] != own.values[$0] }
    }
}
