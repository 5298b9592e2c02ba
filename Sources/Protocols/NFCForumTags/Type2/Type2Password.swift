// SPDX-License-Identifier: Apache-2.0

public import CardCiphers
public import CardModel
internal import ByteCodec
internal import NDEF
public import ReaderCore

/// The password of an Ultralight EV1 or NTAG21x, four bytes; optionally with PACK, the two bytes that the tag returns.
///
/// Unlike a key it is sent as it is: anybody who listens on the air has it.
public final class Type2Password: SecretValue {
    private let secret: SecretBytes

    /// Makes a password from its four bytes, or from six with PACK; the caller overwrites the originals.
    ///
    /// - Returns: `nil` for another number of bytes.
    public convenience init?(_ bytes: some Collection<UInt8>) { self.init(SecretBytes(bytes)) }

    /// Takes four bytes, or six: the password and PACK.
    package init?(_ secret: SecretBytes) {
        guard [4, 6].contains(secret.count) else { return nil }
        self.secret = secret
    }

    /// Calls `use` with PWD_AUTH and the password, which is overwritten afterwards.
    func withCommand<Result>(_ use: ([UInt8]) throws(TransportError) -> Result) throws(TransportError) -> Result {
        var frame = [Type2Command.passwordAuthentication]
        frame.reserveCapacity(5)
        unsafe secret.withUnsafeBytes { unsafe frame.append(contentsOf: $0.prefix(4)) }
        defer { frame.wipe() }
        return try use(frame)
    }

    /// Whether this may be the answer of the tag that the password belongs to.
    func accepts(acknowledgement: [UInt8]) -> Bool {
        unsafe secret.withUnsafeBytes { unsafe $0.count == 4 || $0.dropFirst(4).elementsEqual(acknowledgement) }
    }

    /// Sixteen bits by which a password that failed is recognized on the same tag; many passwords have the same ones,
    /// so that they can be stored.
    func fingerprint(uid: [UInt8]) -> UInt16 {
        TagSecretRules.fingerprint(secret, count: 4, salt: uid)
    }
}

/// Why a password was not sent, or was sent without success.
@nonexhaustive
public enum Type2PasswordError: Error, Hashable, Sendable {
    /// The tag has no password, or the reader does not pass the command on; nothing was sent.
    case notSupported
    /// It was not sent: after a limit of wrong passwords the tag refuses forever, and it does not say how many were
    /// tried. `nil` if the limit itself cannot be read.
    case lastTry(limit: Int?)
    /// It was not sent: this tag did not accept it before.
    case failedBefore
    /// The tag refused it.
    case wrong
    /// The tag accepts no password any more, not even the right one.
    case locked
    /// The tag accepted it and returned another PACK than the expected one: it may be another tag.
    case otherAcknowledgement
    /// It was sent, and no answer arrived: it may count as a wrong one.
    case interrupted(TransportError)
}

extension Type2PasswordError: SelfDescribing {
    /// What happened to the password.
    public var message: LocalizedText {
        switch self {
        case .notSupported:
            LocalizedText("this tag or reader does not support passwords", "このタグまたはリーダーはパスワードに対応していません")
        case .lastTry(let limit?):
            LocalizedText(
                "the password was not sent: the tag locks itself forever after \(limit) wrong ones, and does not report how many were tried",
                "パスワードは送りませんでした: \(limit) 回間違えるとタグは永久にロックされ、これまでの失敗回数は分かりません")
        case .lastTry(nil):
            LocalizedText(
                "the password was not sent: the tag does not reveal whether wrong ones lock it forever",
                "パスワードは送りませんでした: 間違えると永久にロックされるかどうか、タグから読み取れません")
        case .failedBefore:
            LocalizedText(
                "the password was not sent: this tag did not accept it before", "パスワードは送りませんでした: 前回このタグに拒否されたパスワードです")
        case .wrong: LocalizedText("wrong password for this tag", "タグのパスワードと一致しません")
        case .locked:
            LocalizedText(
                "the tag accepts no password any more: too many wrong ones were tried", "失敗が上限に達したため、タグはどのパスワードも受け付けません"
            )
        case .otherAcknowledgement:
            LocalizedText(
                "the tag accepted the password but returned another PACK: another tag answers",
                "パスワードは通りましたが PACK が違います。別のタグです")
        case .interrupted(let error):
            LocalizedText(
                "the password was sent, but no answer arrived, so it may count as a wrong one: \(error.message.english)",
                "パスワードの送信後に応答がなく、失敗に数えられたおそれがあります: \(error.message.japanese)")
        }
    }
}

extension Type2Tag {
    /// Whether the tag accepted a password, or was authenticated with a key.
    package var isOpen: Bool { isAuthenticated || password != nil }

    /// Sends the password once, if the rules allow it; it is sent again each time the tag has to be reselected.
    ///
    /// The limit of tries is read first. Nothing is sent to a tag that protects no pages.
    ///
    /// - Returns: whether the password was sent.
    /// - Throws: ``TagError``; ``TagError/password(_:)``.
    @discardableResult
    package func authenticate(_ password: Type2Password, _ rules: TagSecretRules) throws(TagError) -> Bool {
        guard let product = try product(), product.hasPassword else { throw .password(.notSupported) }
        let configuration = try configuration()
        if let configuration, let count = product.pageCount, configuration.firstProtectedPage >= count { return false }
        let limit = configuration?.passwordTries
        guard limit == 0 || rules.allowsLastTry else { throw .password(.lastTry(limit: limit)) }
        let uid = target.uid
        let fingerprint = password.fingerprint(uid: uid)
        guard rules.allowsRetry || !rules.failures.contains(fingerprint, of: uid) else {
            throw .password(.failedBefore)
        }
        try checkCancellation()
        rules.failures.insert(fingerprint, of: uid)
        do throws(TagError) {
            try send(password)
        } catch {
            if error == .password(.notSupported) {
                rules.failures.remove(fingerprint, of: uid)
            } else {
                rules.failures.confirm()
            }
            throw error
        }
        rules.accepted(fingerprint, of: uid)
        self.password = password
        return true
    }

    /// Sends PWD_AUTH once; the tag was just selected, or is about to be.
    ///
    /// A tag that refuses is selected again, so that what needs no password can still be read.
    ///
    /// - Throws: ``TagError/password(_:)``, or ``TagError`` if the tag left.
    func send(_ password: Type2Password) throws(TagError) {
        let answer: [UInt8]
        do throws(TransportError) {
            answer = try password.withCommand { frame throws(TransportError) in
                try reader.transceive(frame, timeout: Type2Tag.timeout)
            }
        } catch {
            if case .unsupported = error { throw .password(.notSupported) }
            throw .password(.interrupted(error))
        }
        switch (answer.count, answer.first) {
        case (2, _):
            guard password.accepts(acknowledgement: answer) else {
                try select()
                throw .password(.otherAcknowledgement)
            }
        case (1, Type2Command.locked?):
            try select()
            throw .password(.locked)
        case (1, let code?) where code & 0xF0 == 0:
            try select()
            throw .password(.wrong)
        default: throw .password(.interrupted(.corrupted(status: 0)))
        }
    }
}
