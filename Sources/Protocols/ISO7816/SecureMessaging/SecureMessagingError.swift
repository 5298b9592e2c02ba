// SPDX-License-Identifier: Apache-2.0

public import CardCrypto
public import CardModel

/// Why a protected exchange with a card gave no result.
@nonexhaustive
public enum SecureMessagingError: Error, Hashable, Sendable {
    /// The exchange itself failed, or the card refused the command.
    case card(ISO7816Error)
    /// The card does not accept what the keys come from: a wrong number, or one of another card.
    case wrongNumber
    /// The card's answer is not protected as it must be; none of it was used.
    case malformed(Reason)
    /// A cryptographic function is missing.
    case crypto(CryptoError)

    /// The faults of a protected answer.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// The answer of the authentication has the wrong length.
        case authenticationLength
        /// The card's code over its cryptogram or answer is wrong.
        case code
        /// The card returned other random numbers than those that were exchanged.
        case random
        /// The answer is not exactly the expected data objects.
        case objects
        /// The padding indicator is unknown, or the cipher text is not whole blocks.
        case cipherText
        /// The decrypted data has no padding.
        case padding
        /// The protected status word is not the one that the card sent in the clear.
        case status
        /// A public key is not in the group, or is one's own.
        case key
        /// The encrypted nonce is not whole blocks.
        case nonce
    }
}

extension SecureMessagingError: SelfDescribing {
    /// What failed.
    public var message: LocalizedText {
        switch self {
        case .card(let error): error.message
        case .wrongNumber:
            LocalizedText("the card does not accept the number", "番号がカードと一致しません")
        case .malformed(let reason):
            LocalizedText(
                "the card's protected answer is wrong (\(reason.message.english))",
                "カードの暗号化された応答が正しくありません（\(reason.message.japanese)）")
        case .crypto(let error): error.message
        }
    }
}

extension SecureMessagingError.Reason: SelfDescribing {
    /// The fault of the answer.
    public var message: LocalizedText {
        switch self {
        case .authenticationLength: LocalizedText("length of the authentication", "認証データの長さ")
        case .code: LocalizedText("authentication code", "認証コード")
        case .random: LocalizedText("random numbers", "乱数")
        case .objects: LocalizedText("data objects", "データオブジェクト")
        case .cipherText: LocalizedText("cipher text", "暗号文")
        case .padding: LocalizedText("padding", "パディング")
        case .status: LocalizedText("status word", "ステータスワード")
        case .key: LocalizedText("public key", "公開鍵")
        case .nonce: LocalizedText("nonce", "ナンス")
        }
    }
}
