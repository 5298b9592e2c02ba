// SPDX-License-Identifier: Apache-2.0

public import CardCiphers

/// A PIN, or another secret that a card compares: its bytes are in one place of memory, which is overwritten when nobody
/// holds the value any more.
///
/// It prints, reflects and dumps as `Redacted`, cannot be compared, encoded or copied out, and is sent at most once.
public final class PIN: SecretValue {
    private let secret: SecretBytes
    /// Whether it was sent, or tried to be.
    public private(set) var isSpent = false

    /// A secret of these bytes; who holds them overwrites them then.
    public convenience init(_ bytes: some Collection<UInt8>) {
        self.init(SecretBytes(bytes))
    }

    /// These bytes, which are overwritten when the PIN is.
    public init(_ secret: SecretBytes) {
        self.secret = secret
    }

    /// Whether it has this form.
    public func matches(_ form: PINForm) -> Bool {
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
