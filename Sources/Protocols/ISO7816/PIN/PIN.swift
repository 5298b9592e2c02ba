// SPDX-License-Identifier: Apache-2.0

public import CardCiphers
public import CardModel

/// A PIN, or another secret that a card compares; its bytes are overwritten when the last reference is released.
///
/// The bytes are in a single place in memory. The value prints, reflects and dumps as `Redacted`, cannot be compared,
/// encoded or copied out, and is sent at most once.
public final class PIN: SecretValue {
    private let secret: SecretBytes
    /// Whether it was sent, or an attempt to send it was made.
    public private(set) var isSpent = false

    /// Makes a secret from these bytes; the caller must overwrite its own copy.
    public convenience init(_ bytes: some Collection<UInt8>) {
        self.init(SecretBytes(bytes))
    }

    /// Makes a PIN from these bytes, which are overwritten together with the PIN.
    package init(_ secret: SecretBytes) {
        self.secret = secret
    }

    /// Returns whether it has this format.
    package func matches(_ form: PINForm) -> Bool {
        unsafe secret.withUnsafeBytes { unsafe form.accepts($0) }
    }

    /// Copies the first bytes of a secret that is printed on a card, to compare them with what its chip says.
    package func printedPart(_ count: Int) -> SecretBytes {
        unsafe secret.withUnsafeBytes { bytes in
            unsafe SecretBytes(capacity: count) { part in
                let part = unsafe UnsafeMutableRawBufferPointer(rebasing: part.prefix(min(count, bytes.count)))
                unsafe part.copyBytes(from: bytes.prefix(count))
                return part.count
            }
        }
    }

    /// Overwrites the bytes; nothing can be sent after that.
    public func wipe() {
        isSpent = true
        secret.wipe()
    }

    /// Hands out the bytes once; the second time there are none.
    ///
    /// They are overwritten afterwards, here and in the array, unless someone else holds a reference to it.
    func spend<Result>(
        _ permit: PINPermit, after header: [UInt8], _ use: ([UInt8]) throws(ISO7816Error) -> Result
    ) throws(ISO7816Error) -> Result? {
        guard !isSpent else { return nil }
        isSpent = true
        var frame = header
        frame.reserveCapacity(header.count + 1 + secret.count)
        frame.append(UInt8(clamping: secret.count))
        unsafe secret.withUnsafeBytes { unsafe frame.append(contentsOf: $0) }
        defer {
            wipe()
            frame.wipe()
        }
        return try use(frame)
    }
}

/// The format of a PIN; checked before anything is sent, since a card treats a wrong format as a wrong PIN.
@nonexhaustive
public enum PINForm: Hashable, Sendable {
    /// This many ASCII digits.
    case digits(Int)
    /// Capital letters A to Z and digits in ASCII, of a length in this range.
    case capitalsAndDigits(ClosedRange<Int>)
    /// Printable ASCII characters, of a length in this range.
    case printable(ClosedRange<Int>)
    /// Exactly these bytes: the placeholder on a card whose PIN was never set.
    case exactly([UInt8])

    func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch self {
        case .digits(let count): unsafe bytes.count == count && bytes.allSatisfy(PINForm.isDigit)
        case .capitalsAndDigits(let counts):
            unsafe counts.contains(bytes.count)
                && bytes.allSatisfy { PINForm.isDigit($0) || (0x41...0x5A).contains($0) }
        case .printable(let counts):
            unsafe counts.contains(bytes.count) && bytes.allSatisfy { (0x20...0x7E).contains($0) }
        case .exactly(let expected): unsafe bytes.elementsEqual(expected)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}

/// A reference to a PIN of a card: its location and its format.
public struct PINReference: Hashable, Sendable {
    /// The display name.
    public var name: LocalizedText
    /// The files to select first, in this order; none if the current one is right.
    public var path: [SelectTarget]
    /// P2 of VERIFY: 80 for the selected PIN file, 81 and so on for one by its number.
    public var p2: UInt8
    /// The format.
    public var form: PINForm
    /// The class of the commands.
    public var cla: ClassByte

    /// Makes a reference to a PIN of a card.
    public init(
        _ name: LocalizedText, path: [SelectTarget] = [], p2: UInt8, form: PINForm,
        cla: ClassByte = .interindustry
    ) {
        self.name = name
        self.path = path
        self.p2 = p2
        self.form = form
        self.cla = cla
    }
}

extension PINReference: CustomStringConvertible {
    /// The English name.
    public var description: String { name[.english] }
}

/// A card's report on the remaining tries of a PIN.
public enum TriesLeft: Hashable, Sendable {
    /// This many, 1 to 15.
    case count(Int)
    /// None: the PIN is locked (`6983`, `6984` or `63C0`).
    case locked
    /// The card requires no PIN now: it was already verified, or is not needed (`9000`).
    case notNeeded
    /// The card does not report them (`6300`, `6700`); the next VERIFY may be the last.
    case unknown(StatusWord)
    /// The card returned another status, so it would not accept a VERIFY either.
    case refused(StatusWord)

    /// Interprets the answer to a VERIFY without data.
    package init(query status: StatusWord) {
        switch status {
        case .success: self = .notNeeded
        case .authenticationBlocked, .referenceDataUnusable: self = .locked
        case 0x6300, .wrongLength: self = .unknown(status)
        default:
            guard let counter = status.counter else {
                self = .refused(status)
                return
            }
            self = counter == 0 ? .locked : .count(counter)
        }
    }
}

extension TriesLeft: SelfDescribing {
    /// The number of tries left, or why there is none.
    public var message: LocalizedText {
        switch self {
        case .count(1): LocalizedText("1 try is left", "残り 1 回")
        case .count(let count): LocalizedText("\(count) tries are left", "残り \(count) 回")
        case .locked: LocalizedText("it is locked", "閉塞しています")
        case .notNeeded: LocalizedText("the card does not require it", "照合は不要です")
        case .unknown: LocalizedText("the number of tries left is unknown", "残り回数は分かりません")
        case .refused(let status):
            LocalizedText("the card says \(status.text.english)", "カードの応答 \(status.text.japanese)")
        }
    }
}

extension PINForm: SelfDescribing {
    /// What the PIN consists of.
    public var message: LocalizedText {
        switch self {
        case .digits(let count): LocalizedText("\(count) digits", "半角数字 \(count) 桁")
        case .capitalsAndDigits(let counts):
            LocalizedText(
                "\(counts.lowerBound) to \(counts.upperBound) capital letters and digits",
                "英大文字と数字 \(counts.lowerBound)～\(counts.upperBound) 文字")
        case .printable(let counts):
            LocalizedText(
                "\(counts.lowerBound) to \(counts.upperBound) characters",
                "\(counts.lowerBound)～\(counts.upperBound) 文字")
        case .exactly: LocalizedText("the placeholder for a PIN that is not set", "未設定時の値")
        }
    }
}
