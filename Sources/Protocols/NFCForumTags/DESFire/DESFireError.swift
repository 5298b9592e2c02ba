// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Why a DESFire was not read or written.
@nonexhaustive
public enum DESFireError: Error, Hashable, Sendable {
    /// The exchange failed, or the answer is malformed.
    case tag(TagError)
    /// The card answers commands, but is not a DESFire.
    case notDESFire
    /// The card has no application with this number.
    case noSuchApplication(DESFireApplicationID)
    /// The application has no file with this number.
    case noSuchFile(DESFireFileID)
    /// The card refused a command with this status byte.
    case refused(command: UInt8, status: UInt8)
    /// The card refused the key, or could not prove that it has it.
    case wrongKey
    /// The application has no key with this number.
    case noSuchKey(UInt8)
    /// The application's keys have another length; nothing was proved. `nil` if the type of its keys is unknown.
    case keyLength(DESFireKeyType?)
    /// The application's keys do not authenticate in this way; nothing was proved.
    case otherMethod(DESFireAuthenticationMethod)
    /// Neither the key nor everybody has the right; nothing was written.
    case notAllowed(DESFireFileID, DESFireRight)
    /// The card shows the settings of the file to nobody without the right key, so that it is unknown how to read it.
    case withheld(DESFireFileID)
    /// The place or amount is outside of the file or of its limits; nothing was written.
    case outOfRange(DESFireRange)
    /// The file is of a kind that has no such operation; nothing was written.
    case otherType(DESFireFileID, DESFireFileType)
    /// What was read back is not what was written.
    case notVerified
    /// No answer came to a write or to the commit, which is never sent again; what the file says about it.
    case answerLost(DESFireOutcome)
}

/// What somebody may do with a file.
@nonexhaustive
public enum DESFireRight: String, Hashable, Sendable {
    case read
    case write
    /// To add to a value.
    case credit
    /// To subtract from a value.
    case debit
}

/// The limits that a write would leave, in bytes or in a value's unit.
public struct DESFireRange: Hashable, Sendable {
    /// Where the write would end, or what the value would be.
    public let wanted: Int
    /// The lowest possible one.
    public let lower: Int
    /// The highest possible one.
    public let upper: Int
}

/// What a card did with a command whose answer was lost.
@nonexhaustive
public enum DESFireOutcome: String, Hashable, Sendable {
    /// Everything was written.
    case done
    /// Nothing was written.
    case notDone
    /// The file has other contents than before and than those that were written.
    case partly
    /// The file cannot be read now.
    case unknown
}

extension DESFireError: SelfDescribing {
    /// What failed.
    public var message: LocalizedText {
        switch self {
        case .tag(let error): error.message
        case .notDESFire: LocalizedText("the card is not a MIFARE DESFire", "MIFARE DESFire ではありません")
        case .noSuchApplication(let id):
            LocalizedText("the card has no application \(id)", "カードにアプリケーション \(id) はありません")
        case .noSuchFile(let file): LocalizedText("the card has no file \(file)", "カードにファイル \(file) はありません")
        case .refused(_, let status):
            LocalizedText("the card refused with status 91\(status.twoDigits)", "カードが拒否しました（91\(status.twoDigits)）")
        case .wrongKey: LocalizedText("wrong key for this application", "アプリケーションの鍵と一致しません")
        case .noSuchKey(let number):
            LocalizedText("the application has no key \(number)", "アプリケーションに鍵 \(number) はありません")
        case .keyLength(let type?):
            LocalizedText(
                "the application's keys have \(2 * type.keyLength) hexadecimal digits (\(type.title))",
                "アプリケーションの鍵は 16 進 \(2 * type.keyLength) 桁（\(type.title)）です")
        case .keyLength(nil): LocalizedText("the application's keys have another length", "アプリケーションの鍵とは長さが違います")
        case .otherMethod(let method):
            LocalizedText(
                "the application does not authenticate with \(method.rawValue)",
                "アプリケーションは \(method.rawValue) での認証に応じません")
        case .notAllowed(let file, let right):
            LocalizedText(
                "nobody but the owner of another key may \(right.verb.english) \(file)",
                "\(file) を\(right.verb.japanese)には別の鍵が必要です")
        case .withheld(let file):
            LocalizedText(
                "the card shows the settings of \(file) only with another key", "\(file) の設定を見るには別の鍵が必要です")
        case .outOfRange(let range):
            LocalizedText(
                "\(range.wanted) is not between \(range.lower) and \(range.upper); nothing was written",
                "\(range.wanted) は \(range.lower)～\(range.upper) の範囲外です（書き込んでいません）")
        case .otherType(let file, let type):
            LocalizedText("\(file) is a \(type.title.english)", "\(file) は\(type.title.japanese)です")
        case .notVerified:
            LocalizedText("the card returned different data after the write", "読み返した内容が書き込んだものと一致しません")
        case .answerLost(let outcome): outcome.message
        }
    }
}

extension DESFireOutcome {
    /// What happened.
    fileprivate var message: LocalizedText {
        switch self {
        case .done:
            LocalizedText("no answer arrived, but the file shows that it was written", "応答はありませんでしたが、ファイルには書き込まれています")
        case .notDone:
            LocalizedText("no answer arrived, and nothing was written", "応答がなく、ファイルには書き込まれていません")
        case .partly:
            LocalizedText("no answer arrived, and only a part was written", "応答がなく、一部だけ書き込まれています")
        case .unknown:
            LocalizedText(
                "no answer arrived, and it is unknown whether the card wrote", "応答がなく、書き込まれたかどうか分かりません")
        }
    }
}

extension DESFireRight {
    fileprivate var verb: LocalizedText {
        switch self {
        case .read: LocalizedText("read", "読む")
        case .write: LocalizedText("write", "書く")
        case .credit: LocalizedText("add to", "増やす")
        case .debit: LocalizedText("subtract from", "減らす")
        }
    }
}

extension DESFireKeyType {
    /// The name of the cipher.
    package var title: String {
        switch self {
        case .des: "DES, 2K3DES"
        case .threeKeyTripleDES: "3K3DES"
        case .aes: "AES"
        }
    }
}

extension UInt8 {
    /// Two hexadecimal digits.
    fileprivate var twoDigits: String { [self].hexadecimal.uppercased() }
}
