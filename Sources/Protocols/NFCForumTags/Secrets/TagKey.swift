// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardCiphers
internal import CardCrypto
public import CardModel
public import ReaderCore

/// A key of sixteen bytes: Triple DES for an Ultralight C, AES for an Ultralight AES or NTAG 424 DNA.
///
/// It is proved and never sent.
public struct TagKey: SecretValue {
    package let secret: SecretBytes
    /// Its number on the tag. An NTAG 424 DNA has the keys 0 to 4; an Ultralight AES 0 for data and 1 for the UID.
    public let number: UInt8

    /// The highest number that a tag's key has.
    package static let lastNumber: UInt8 = 4

    /// Makes a key from its sixteen bytes, in the order in which NXP writes them; the caller overwrites the originals.
    ///
    /// - Parameters:
    ///   - bytes: the key; of an Ultralight C, K1 before K2.
    ///   - number: its number on the tag.
    /// - Returns: `nil` for another number of bytes.
    public init?(_ bytes: some Collection<UInt8>, number: UInt8 = 0) {
        self.init(SecretBytes(bytes), number: number)
    }

    /// Takes sixteen bytes; nil for another number of bytes.
    package init?(_ secret: SecretBytes, number: UInt8 = 0) {
        guard secret.count == AESKey.blockLength else { return nil }
        (self.secret, self.number) = (secret, number)
    }

    func tripleDES() -> TripleDESKey? { try? TripleDESKey(secret) }

    /// The key for AES.
    ///
    /// - Throws: ``TagError/crypto(_:)``, also if there is no library, so that a tag is asked for nothing in vain.
    func aes() throws(TagError) -> AESKey {
        guard CryptoError.isLibraryThere else { throw .crypto(.libraryMissing) }
        do throws(CryptoError) {
            return try AESKey(secret)
        } catch {
            throw .crypto(error)
        }
    }

    func fingerprint(uid: [UInt8]) -> UInt16 {
        TagSecretRules.fingerprint(secret, count: AESKey.blockLength, salt: uid + [number])
    }
}

/// Why a key was not used, or was used without success.
@nonexhaustive
public enum TagKeyError: Error, Hashable, Sendable {
    /// It was not used: after a limit of wrong keys the tag refuses forever, and it does not say how many were tried.
    /// `nil` if the limit itself cannot be read.
    case lastTry(limit: Int?)
    /// It was not used: so many wrong keys in a row were tried on this tag.
    case manyFailures(Int)
    /// It was not used: this tag did not accept it before.
    case failedBefore
    /// The tag has no key of this number, or does not begin an authentication with it.
    case noSuchKey(UInt8)
    /// It was not used: the tag's keys have so many bytes.
    case otherLength(bytes: Int)
    /// Too many wrong keys in a row: the tag answers only after a pause.
    case delayed
    /// The tag accepts this key no more, not even the right one.
    case locked
    /// The proof was sent, and no answer arrived: it may count as a wrong key.
    case interrupted(TransportError)
    /// The tag wants a code with each command (secure messaging), with which nothing is written here.
    case writingUnsupported
}

extension TagKeyError: SelfDescribing {
    /// What happened to the key.
    public var message: LocalizedText {
        switch self {
        case .lastTry(let limit?):
            LocalizedText(
                "the key was not used: the tag locks itself forever after \(limit) wrong ones, and does not report how many were tried",
                "鍵は使いませんでした: \(limit) 回間違えるとタグは永久にロックされ、これまでの失敗回数は分かりません")
        case .lastTry(nil):
            LocalizedText(
                "the key was not used: the tag does not reveal whether wrong ones lock it forever",
                "鍵は使いませんでした: 間違えると永久にロックされるかどうか、タグから読み取れません")
        case .manyFailures(let count):
            LocalizedText(
                "the key was not used: \(count) wrong ones in a row were tried on this tag, and it counts them",
                "鍵は使いませんでした: このタグには続けて \(count) 回誤った鍵が使われました。タグは失敗を数えています")
        case .failedBefore:
            LocalizedText("the key was not used: this tag did not accept it before", "鍵は使いませんでした: 前回このタグに拒否された鍵です")
        case .noSuchKey(let number):
            LocalizedText("the tag does not authenticate with key \(number)", "タグは鍵 \(number) での認証に応じません")
        case .otherLength(let bytes):
            LocalizedText(
                "the tag's keys have \(2 * bytes) hexadecimal digits", "タグの鍵は 16 進 \(2 * bytes) 桁です")
        case .delayed:
            LocalizedText(
                "the tag makes its reader wait: too many wrong keys were tried in a row", "誤った鍵が続いたため、タグが応答を遅らせています")
        case .locked:
            LocalizedText(
                "the tag no longer accepts this key: too many wrong ones were tried", "失敗が上限に達したため、タグはこの鍵を受け付けません")
        case .interrupted(let error):
            LocalizedText(
                "the proof of the key was sent, but no answer arrived, so it may count as a wrong one: \(error.message.english)",
                "鍵の証明の送信後に応答がなく、失敗に数えられたおそれがあります: \(error.message.japanese)")
        case .writingUnsupported:
            LocalizedText(
                "nothing was written: this tag requires secure messaging, which Kazasu supports for reading only",
                "書き込みませんでした: このタグはセキュアメッセージングを使う設定で、Kazasu は読み取りだけに対応しています")
        }
    }
}

extension TagSecretRules {
    /// How many wrong keys in a row may be tried on a tag without a limit that can be read.
    static let patience = 3

    /// Runs one try of a key, if it is allowed; what it throws counts as a failure unless nothing was proved.
    ///
    /// - Parameter limit: how many wrong ones the tag allows, 0 for no limit; `nil` if that is unknown.
    func attempt(_ key: TagKey, uid: [UInt8], _ body: () throws(TagError) -> Void) throws(TagError) {
        let fingerprint = key.fingerprint(uid: uid)
        guard allowsRetry || !failures.contains(fingerprint, of: uid) else { throw .key(.failedBefore) }
        let count = failures.count(of: uid)
        guard allowsLastTry || count < Self.patience else { throw .key(.manyFailures(count)) }
        failures.insert(fingerprint, of: uid)
        do throws(TagError) {
            try body()
        } catch {
            switch error {
            case .keyRefused, .key(.interrupted): failures.confirm()
            default: failures.remove(fingerprint, of: uid)
            }
            throw error
        }
        accepted(fingerprint, of: uid)
    }

    /// Whether a key may not be tried now, and why; `nil` if it may.
    func obstacle(_ key: TagKey, uid: [UInt8]) -> TagKeyError? {
        if !allowsRetry, failures.contains(key.fingerprint(uid: uid), of: uid) { return .failedBefore }
        let count = failures.count(of: uid)
        return allowsLastTry || count < Self.patience ? nil : .manyFailures(count)
    }

    /// Runs one try of one of several keys of a tag. A refusal is remembered until the same key is accepted: an accepted key
    /// says nothing about the others, and a lost answer nothing about this one.
    func attemptOne(_ key: TagKey, uid: [UInt8], _ body: () throws(TagError) -> Void) throws(TagError) {
        if let obstacle = obstacle(key, uid: uid) { throw .key(obstacle) }
        let fingerprint = key.fingerprint(uid: uid)
        failures.insert(fingerprint, of: uid)
        do throws(TagError) {
            try body()
        } catch {
            if error == .keyRefused { failures.confirm() } else { failures.remove(fingerprint, of: uid) }
            throw error
        }
        accepted(fingerprint, of: uid)
    }

    /// Notes that a tag accepted a secret, which ends its row of wrong ones. They stay known: it will refuse them again.
    func accepted(_ fingerprint: UInt16, of uid: [UInt8]) {
        failures.remove(fingerprint, of: uid)
        failures.endRow(of: uid)
    }
}
