// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCiphers

/// What opens the protected pages or files of a tag.
@nonexhaustive
public enum TagCredential {
    /// The key of an Ultralight C, Ultralight AES or NTAG 424 DNA, which is proved and not sent, and whether it may be used.
    case key(TagKey, TagSecretRules)
    /// The key of a DESFire's application with the message for phones. It is proved and not sent, and is tried once.
    case desfire(DESFireKey)
    /// The password of an Ultralight EV1 or NTAG21x, and whether it may be sent.
    case password(Type2Password, TagSecretRules)
}

/// The rules for trying a password or key, since a tag may refuse forever after some wrong ones and never says how many are
/// left. Use one value for all tags: it remembers which refused what.
public struct TagSecretRules {
    /// Whether it may be tried on a tag that has a limit of tries, or does not reveal whether it has one.
    public var allowsLastTry: Bool
    /// Whether a password or key may be tried again that this tag did not accept before.
    public var allowsRetry: Bool
    /// The passwords and keys that failed.
    package var failures: any TagSecretFailures

    /// Makes rules that remember failures as long as they exist.
    public init(allowsLastTry: Bool = false, allowsRetry: Bool = false) {
        self.init(allowsLastTry: allowsLastTry, allowsRetry: allowsRetry, failures: TagSecretFailuresOfRun())
    }

    package init(allowsLastTry: Bool = false, allowsRetry: Bool = false, failures: any TagSecretFailures) {
        (self.allowsLastTry, self.allowsRetry, self.failures) = (allowsLastTry, allowsRetry, failures)
    }

    /// Sixteen bits by which a secret that failed is recognized on the same tag; many secrets have the same ones, so that
    /// they can be stored.
    static func fingerprint(_ secret: SecretBytes, count: Int, salt: [UInt8]) -> UInt16 {
        // FNV-1a, folded.
        let next = { (hash: UInt32, byte: UInt8) in (hash ^ UInt32(byte)) &* 0x0100_0193 }
        let hash = unsafe secret.withUnsafeBytes {
            unsafe $0.prefix(count).reduce(salt.reduce(0x811C_9DC5, next), next)
        }
        return UInt16(truncatingIfNeeded: hash >> 16 ^ hash)
    }
}

/// Remembers the passwords and keys that tags did not accept.
package protocol TagSecretFailures: AnyObject {
    /// Whether a secret with this fingerprint was tried on this tag without being accepted.
    func contains(_ fingerprint: UInt16, of uid: [UInt8]) -> Bool
    /// How many were tried on this tag in a row, since one was accepted.
    func count(of uid: [UInt8]) -> Int
    /// Remembers a secret that is about to be tried: from now on it counts as failed.
    func insert(_ fingerprint: UInt16, of uid: [UInt8])
    /// Notes that the secret that was tried last was not accepted.
    func confirm()
    /// Forgets a secret that the tag accepted, or that was not tried after all.
    func remove(_ fingerprint: UInt16, of uid: [UInt8])
    /// Ends the row, after a secret that the tag accepted: the wrong ones stay known, and count no more.
    func endRow(of uid: [UInt8])
}

/// Remembers passwords and keys until the program ends.
package final class TagSecretFailuresOfRun: TagSecretFailures {
    private var failed: [[UInt8]: [UInt16]] = [:]
    /// Those before the last accepted one.
    private var earlier: [[UInt8]: Set<UInt16>] = [:]

    package init() {}

    package func contains(_ fingerprint: UInt16, of uid: [UInt8]) -> Bool {
        failed[uid]?.contains(fingerprint) ?? false || earlier[uid]?.contains(fingerprint) ?? false
    }

    package func count(of uid: [UInt8]) -> Int { failed[uid]?.count ?? 0 }

    package func insert(_ fingerprint: UInt16, of uid: [UInt8]) { failed[uid, default: []].append(fingerprint) }

    package func confirm() {}

    package func remove(_ fingerprint: UInt16, of uid: [UInt8]) {
        failed[uid]?.removeAll { $0 == fingerprint }
        earlier[uid]?.remove(fingerprint)
    }

    package func endRow(of uid: [UInt8]) {
        earlier[uid, default: []].formUnion(failed[uid] ?? [])
        failed[uid] = nil
    }
}
