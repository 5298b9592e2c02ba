// SPDX-License-Identifier: Apache-2.0

public import CardCiphers
public import CardModel

/// A PIN, or another secret that a card compares: its bytes are in one place of memory, which is overwritten when nobody
/// holds the value any more.
///
/// It prints, reflects and dumps as `Redacted`, cannot be compared, encoded or copied out, and is sent at most once.
public final class PIN: SecretValue {
    private let secret: SecretBytes
    /// Whether it was sent, or tried to be.
    public private(set) var isSpent = false

    /// A secret of these bytes; the caller has to overwrite its own copy.
    public convenience init(_ bytes: some Collection<UInt8>) {
        self.init(SecretBytes(bytes))
    }

    /// These bytes, which are overwritten when the PIN is.
    package init(_ secret: SecretBytes) {
        self.secret = secret
    }

    /// Whether it has this form.
    package func matches(_ form: PINForm) -> Bool {
        unsafe secret.withUnsafeBytes { unsafe form.accepts($0) }
    }

    /// Overwrites the bytes; nothing can be sent after that.
    public func wipe() {
        isSpent = true
        secret.wipe()
    }

    /// Hands the bytes out, once: the second time there are none. They are overwritten afterwards, here and in the
    /// array, as far as nobody else holds that.
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

/// What a PIN may be; checked before anything is sent, since a card takes a wrong form for a wrong PIN.
@nonexhaustive
package enum PINForm: Hashable, Sendable {
    /// So many digits in ASCII.
    case digits(Int)
    /// Capital letters A to Z and digits in ASCII, so many of them.
    case capitalsAndDigits(ClosedRange<Int>)
    /// Printable ASCII, so many characters.
    case printable(ClosedRange<Int>)
    /// Just these bytes: what a card has in place of a PIN that was never set.
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

/// Which PIN of a card: where it is, and what it may be.
public struct PINReference: Hashable, Sendable {
    /// What people call it.
    public var name: LocalizedText
    /// The files to select before, in this order; none when the current one is right.
    package var path: [SelectTarget]
    /// P2 of VERIFY: 80 for the selected PIN file, 81 and so on for one by its number.
    package var p2: UInt8
    /// What it may be.
    package var form: PINForm
    /// The class of the commands.
    package var cla: ClassByte

    /// A PIN of a card.
    package init(
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

/// What a card says of the tries that a PIN has left.
public enum TriesLeft: Hashable, Sendable {
    /// This many, 1 to 15.
    case count(Int)
    /// None: the PIN is locked (`6983`, `6984` or `63C0`).
    case locked
    /// The card asks for no PIN now: it was verified before, or is not needed (`9000`).
    case notNeeded
    /// The card does not say (`6300`, `6700`); the next VERIFY may be the last.
    case unknown(StatusWord)
    /// The card says something else, so it would not take a VERIFY either.
    case refused(StatusWord)

    /// What an answer to a VERIFY without data says.
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
