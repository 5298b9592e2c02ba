// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// The number of an application, as people write it: three bytes, most significant first. 000000 is the card itself.
public struct DESFireApplicationID: Hashable, Sendable, CustomStringConvertible {
    /// The number, 0 to FFFFFF.
    public let rawValue: UInt32

    /// Makes a number; `nil` above FFFFFF.
    public init?(rawValue: UInt32) {
        guard rawValue <= 0xFF_FFFF else { return nil }
        self.rawValue = rawValue
    }

    /// Reads six hexadecimal digits.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 6, text.utf8.allSatisfy({ Hex.value(of: $0) != nil }),
            let value = UInt32(text, radix: 16)
        else { return nil }
        rawValue = value
    }

    /// The card itself, which has the master key.
    public static let card = DESFireApplicationID(0)

    private init(_ value: UInt32) { rawValue = value }

    /// Reads three bytes as a card sends them, least significant first.
    init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 3 else { return nil }
        rawValue = bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Three bytes as a card takes them, least significant first.
    var bytes: [UInt8] { (0..<3).map { UInt8(truncatingIfNeeded: rawValue >> (8 * $0)) } }

    /// Six hexadecimal digits.
    public var description: String {
        [UInt8](bytes.reversed()).hexadecimal.uppercased()
    }
}

/// The place of a file: its application and number, written `F5A1C0:1`.
public struct DESFireFileID: Hashable, Sendable, CustomStringConvertible {
    /// The application.
    public let application: DESFireApplicationID
    /// 0 to 31.
    public let number: UInt8

    /// Makes a place; `nil` for a number above 31.
    public init?(_ application: DESFireApplicationID, _ number: UInt8) {
        guard number <= 31 else { return nil }
        (self.application, self.number) = (application, number)
    }

    /// File 0 of the card itself, which no card has.
    package static let absent = DESFireFileID()

    /// The message for phones (AN11004, mapping 2).
    static let message = DESFireFileID(.ndef, 2) ?? .absent

    private init() { (application, number) = (.card, 0) }

    /// Reads `AID:NUMBER`, six hexadecimal digits and a decimal number.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let application = DESFireApplicationID(parts[0]), parts[1].utf8.count <= 2,
            parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt8(parts[1])
        else { return nil }
        self.init(application, number)
    }

    /// As in `F5A1C0:1`.
    public var description: String { "\(application):\(number)" }
}

/// The kinds of files.
@nonexhaustive
public enum DESFireFileType: String, Hashable, Sendable {
    /// Bytes, written at once.
    case standard
    /// Bytes, written by a commit.
    case backup
    /// A number between limits.
    case value
    /// Records until it is full.
    case linear
    /// Records, of which the oldest is replaced.
    case cyclic
    /// A code over transactions (EV2).
    case transactionMAC

    init?(code: UInt8) {
        let types: [DESFireFileType] = [.standard, .backup, .value, .linear, .cyclic, .transactionMAC]
        guard Int(code) < types.count else { return nil }
        self = types[Int(code)]
    }

    /// What it is called.
    package var title: LocalizedText {
        switch self {
        case .standard: LocalizedText("standard file", "標準ファイル")
        case .backup: LocalizedText("backup file", "バックアップファイル")
        case .value: LocalizedText("value file", "バリューファイル")
        case .linear: LocalizedText("linear record file", "追記型レコードファイル")
        case .cyclic: LocalizedText("cyclic record file", "循環レコードファイル")
        case .transactionMAC: LocalizedText("transaction MAC file", "トランザクション MAC ファイル")
        }
    }
}

/// Who has a right: the owner of a key, everybody or nobody.
@nonexhaustive
public enum DESFireAccess: Hashable, Sendable {
    /// Key 0 to 13.
    case key(UInt8)
    case everybody
    case nobody

    package var nibble: UInt8 {
        switch self {
        case .key(let number): number & 0x0F
        case .everybody: 0x0E
        case .nobody: 0x0F
        }
    }

    init(nibble: UInt8) {
        switch nibble & 0x0F {
        case 0x0E: self = .everybody
        case 0x0F: self = .nobody
        default: self = .key(nibble & 0x0F)
        }
    }
}

/// The settings of a file.
public struct DESFireFile: Hashable, Sendable {
    /// 0 to 31.
    public let number: UInt8
    /// What it holds.
    public let type: DESFireFileType
    /// How its data travels for the owner of a key.
    public let mode: DESFireMode
    /// Who may read.
    public let read: DESFireAccess
    /// Who may write.
    public let write: DESFireAccess
    /// Who may do both.
    public let readWrite: DESFireAccess
    /// Who may change the settings.
    public let change: DESFireAccess
    /// How much it holds.
    public let extent: Extent

    /// How much a file holds.
    @nonexhaustive
    public enum Extent: Hashable, Sendable {
        /// A number of bytes.
        case bytes(Int)
        /// A value between limits.
        case value(lower: Int32, upper: Int32, limitedCredit: Bool)
        /// Records of so many bytes; of a cyclic file, one more than it keeps.
        case records(size: Int, maximum: Int, count: Int)
    }

    /// The length of a transaction MAC file: counter and code.
    private static let macLength = 12

    /// Parses the answer to GetFileSettings; `nil` if it is malformed.
    init?(_ number: UInt8, _ settings: [UInt8]) {
        guard settings.count >= 4, let type = DESFireFileType(code: settings[0]) else { return nil }
        self.number = number
        (self.type, mode) = (type, DESFireMode(option: settings[1]))
        (readWrite, change) = (DESFireAccess(nibble: settings[2] >> 4), DESFireAccess(nibble: settings[2]))
        (read, write) = (DESFireAccess(nibble: settings[3] >> 4), DESFireAccess(nibble: settings[3]))
        let rest = Array(settings.dropFirst(4))
        func field(_ place: Int, _ count: Int) -> Int? {
            guard place + count <= rest.count else { return nil }
            return rest[place..<place + count].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        switch type {
        case .standard, .backup:
            guard let size = field(0, 3) else { return nil }
            extent = .bytes(size)
        case .transactionMAC: extent = .bytes(Self.macLength)
        case .value:
            guard let lower = field(0, 4), let upper = field(4, 4), let flags = field(12, 1) else { return nil }
            extent = .value(
                lower: Int32(truncatingIfNeeded: lower), upper: Int32(truncatingIfNeeded: upper),
                limitedCredit: flags & 1 != 0)
        case .linear, .cyclic:
            guard let size = field(0, 3), let maximum = field(3, 3), let count = field(6, 3), size > 0,
                count <= maximum
            else { return nil }
            extent = .records(size: size, maximum: maximum, count: count)
        }
    }

    /// Who has a right.
    func owners(of right: DESFireRight) -> [DESFireAccess] {
        switch (right, type) {
        case (.read, .value), (.debit, _): [read, write, readWrite]
        case (.read, _): [read, readWrite]
        case (.write, _): [write, readWrite]
        case (.credit, _): [readWrite]
        }
    }

    /// How somebody with a right reads or writes; `nil` for somebody without it.
    ///
    /// - Parameter key: the number of the session's key; `nil` without one.
    func mode(_ right: DESFireRight, key: UInt8?) -> DESFireMode? {
        let owners = owners(of: right)
        if let key, owners.contains(.key(key)) { return mode }
        return owners.contains(.everybody) ? .plain : nil
    }
}

/// The contents of a file.
@nonexhaustive
public enum DESFireContents: Hashable, Sendable {
    /// Its bytes.
    case data([UInt8])
    /// Its number.
    case value(Int32)
    /// Its records, the oldest first.
    case records([[UInt8]])
}
