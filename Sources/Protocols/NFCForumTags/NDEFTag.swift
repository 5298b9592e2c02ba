// SPDX-License-Identifier: Apache-2.0

public import CardCrypto
public import CardModel
public import FeliCa
public import ISO7816
public import NDEF
public import ReaderCore

/// A tag of any type that may contain an NDEF message.
package protocol NDEFTag: AnyObject {
    /// The number of the tag's type: 2, 3 or 4.
    var typeNumber: Int { get }

    /// Reads the message and its capacity.
    ///
    /// - Throws: ``TagError``; ``TagError/noNDEF(_:)`` if the tag cannot hold a message.
    func readNDEF() throws(TagError) -> NDEFArea

    /// Returns the area for writing a message; a message that was left half written does not prevent a new one.
    ///
    /// - Throws: ``TagError``; ``TagError/noNDEF(_:)`` if the tag cannot hold a message.
    func writableArea() throws(TagError) -> NDEFArea

    /// Checks whether a message can be written to exactly the places that it would occupy; writes nothing.
    ///
    /// - Parameter bytes: a message that fits on the tag.
    /// - Throws: ``TagError``; ``TagError/notWritable(_:)`` for a page or block that is locked or protected.
    func checkPlaces(of bytes: [UInt8]) throws(TagError)

    /// Writes a message in an order that never leaves half of one.
    ///
    /// It is first marked as empty or in progress, the data follows, and length and mark come last.
    ///
    /// - Parameter bytes: a message that fits on the tag, as checked by the caller.
    /// - Throws: ``TagError``.
    func writeUnchecked(_ bytes: [UInt8]) throws(TagError)

    /// Reads the message and compares it with the one that was written; bytes that the tag replaces when it is read,
    /// such as a mirrored UID, are left out.
    func isStored(_ bytes: [UInt8]) throws(TagError) -> Bool
}

extension NDEFTag {
    /// Compares every byte.
    package func isStored(_ bytes: [UInt8]) throws(TagError) -> Bool { try readNDEF().message == bytes }

    /// Checks, before the user is asked, whether a message can be written.
    ///
    /// It must be a valid message and fit on the tag, and every place that it would occupy must be writable. Nothing is
    /// written.
    ///
    /// - Parameter bytes: the bytes of an NDEF message; empty to leave the tag without one.
    /// - Throws: ``TagError``.
    package func checkWriting(_ bytes: [UInt8]) throws(TagError) {
        if !bytes.isEmpty {
            do throws(NDEFError) {
                _ = try NDEFMessage(decoding: bytes)
            } catch {
                throw .notAMessage(error)
            }
        }
        let area = try writableArea()
        if let obstacle = area.obstacle { throw .notWritable(obstacle) }
        guard bytes.count <= area.capacity else { throw .tooLong(length: bytes.count, capacity: area.capacity) }
        try checkPlaces(of: bytes)
    }

    /// Writes a message, reads it back and compares.
    ///
    /// Nothing is written unless ``checkWriting(_:)`` succeeds.
    ///
    /// - Parameter bytes: the bytes of an NDEF message; empty to leave the tag without one.
    /// - Throws: ``TagError``.
    package func writeNDEF(_ bytes: [UInt8]) throws(TagError) {
        try checkWriting(bytes)
        try writeUnchecked(bytes)
        guard try isStored(bytes) else { throw .notVerified }
    }
}

/// The NDEF contents of a tag, and its capacity.
public struct NDEFArea: Hashable, Sendable {
    /// The bytes of the message; empty if the tag can hold one but has none.
    public var message: [UInt8]
    /// The longest message that fits.
    public var capacity: Int
    /// Why it cannot be written; `nil` if it can.
    public var obstacle: TagError.WriteReason?

    package init(message: [UInt8], capacity: Int, obstacle: TagError.WriteReason?) {
        self.message = message
        self.capacity = capacity
        self.obstacle = obstacle
    }
}

/// The number of tries of an exchange.
enum Attempts {
    /// If the answer is damaged.
    static let damaged = 4
    /// If the tag does not answer although it is there.
    static let silent = 2
    /// The number of tries to find a tag that does not answer.
    static let activation = 3
}

/// Why a tag could not be read or written.
@nonexhaustive
public enum TagError: Error, Hashable, Sendable {
    /// The tag left the field, or another one is there now.
    case tagLost
    /// The exchange failed on every try, or the reader failed.
    case transport(TransportError)
    /// A Type 2 Tag refused a command for this page with this NAK, four bits; `nil` if it only failed to answer.
    case refused(page: UInt16, nak: UInt8?)
    /// A Type 3 Tag refused, or its answer is malformed.
    case felica(FeliCaError)
    /// A Type 4 Tag refused, or its answer is malformed.
    case iso7816(ISO7816Error)
    /// The answer has a length that is never valid for this command, on every try.
    case badAnswer
    /// The tag contains no NDEF message and cannot hold one.
    case noNDEF(NDEFAbsence)
    /// Writing was refused before anything was sent.
    case notWritable(WriteReason)
    /// The message is longer than the tag's capacity; nothing was sent.
    case tooLong(length: Int, capacity: Int)
    /// The message to be written is not a valid message; nothing was sent.
    case notAMessage(NDEFError)
    /// Pages were requested, and it is not a Type 2 Tag.
    case notType2
    /// The tag does not support authentication with a key, or the reader does not pass it on.
    case takesNoKey
    /// The tag refused the key, or could not prove that it has it.
    case keyRefused
    /// The key was not used, or was used without success.
    case key(TagKeyError)
    /// The cipher that the key needs gave no result.
    case crypto(CryptoError)
    /// The password was not sent, or was sent without success.
    case password(Type2PasswordError)
    /// The data read back differs from the data written.
    case notVerified
    /// Work was cancelled.
    case cancelled

    /// Why writing is not possible.
    @nonexhaustive
    public enum WriteReason: Hashable, Sendable {
        /// The tag reports that it is read-only.
        case readOnly
        /// This page is permanently locked.
        case locked(page: UInt16)
        /// This page needs the tag's password.
        case passwordProtected(page: UInt16)
        /// This page contains the tag's password or key.
        case secret(page: UInt16)
        /// This page is not a user page, so writing it may be permanent.
        case permanent(page: UInt16)
    }
}

extension TagError: SelfDescribing {
    /// What failed.
    public var message: LocalizedText {
        switch self {
        case .tagLost: LocalizedText("the card left the reader", "カードがリーダーから離れました")
        case .transport(let error): error.message
        case .refused(let page, _):
            LocalizedText(
                "the tag refused page \(Type2Dump.name(of: page))", "タグがページ \(Type2Dump.name(of: page)) を拒否しました")
        case .felica(.status(let flags)): flags.refusal(of: LocalizedText("the NDEF service", "NDEF サービス"))
        case .felica(let error): error.message
        case .iso7816(let error): error.message
        case .badAnswer: LocalizedText("the tag's answer violates the protocol", "タグの応答が規格に合いません")
        case .noNDEF(let absence):
            LocalizedText(
                "no NDEF message: \(absence.message.english)", "NDEF メッセージがありません: \(absence.message.japanese)")
        case .notWritable(let reason):
            LocalizedText("nothing was written: \(reason.message.english)", "書き込みませんでした: \(reason.message.japanese)")
        case .tooLong(let length, let capacity):
            LocalizedText(
                "nothing was written: the message has \(length) bytes, the tag has room for \(capacity)",
                "書き込みませんでした: メッセージは \(length) バイト、タグの空きは \(capacity) バイトです")
        case .notAMessage(let error): error.message
        case .notType2: LocalizedText("wrong kind of card: not a Type 2 Tag", "このカードは Type 2 Tag ではありません")
        case .takesNoKey: LocalizedText("this tag cannot be authenticated with a key", "このタグは鍵で認証できません")
        case .keyRefused: LocalizedText("wrong key for this tag", "タグの鍵と一致しません")
        case .key(let error): error.message
        case .crypto(let error): error.message
        case .password(let error): error.message
        case .notVerified:
            LocalizedText("the tag returned different data after the write", "読み返した内容が書き込んだものと一致しません")
        case .cancelled: TransportError.cancelled.message
        }
    }
}

extension TagError.WriteReason: SelfDescribing {
    /// Why nothing can be written.
    public var message: LocalizedText {
        switch self {
        case .readOnly: LocalizedText("the tag is read-only", "タグは読み取り専用です")
        case .locked(let page):
            LocalizedText(
                "page \(Type2Dump.name(of: page)) is locked", "ページ \(Type2Dump.name(of: page)) はロックされています")
        case .passwordProtected(let page):
            LocalizedText(
                "page \(Type2Dump.name(of: page)) needs the tag's password or key",
                "ページ \(Type2Dump.name(of: page)) にはタグのパスワードまたは鍵が必要です")
        case .secret(let page):
            LocalizedText(
                "page \(Type2Dump.name(of: page)) contains the tag's password or key",
                "ページ \(Type2Dump.name(of: page)) にはタグのパスワードまたは鍵があります")
        case .permanent(let page):
            LocalizedText(
                "page \(Type2Dump.name(of: page)) is not a user page, and writing it may be permanent",
                "ページ \(Type2Dump.name(of: page)) はユーザーページではなく、元に戻せないおそれがあります")
        }
    }
}
