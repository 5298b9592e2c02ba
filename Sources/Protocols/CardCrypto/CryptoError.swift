// SPDX-License-Identifier: Apache-2.0

internal import CLibCrypto
public import CardModel

/// Why a cryptographic function gave no result.
@nonexhaustive
public enum CryptoError: Error, Hashable, Sendable {
    /// OpenSSL's libcrypto.so.3 is not installed, or is of a version without what is needed.
    case libraryMissing
    /// The key has no length that the cipher knows; in bytes.
    case keyLength(Int)
    /// The data is not a multiple of the cipher's block; in bytes.
    case dataLength(Int)
    /// The library refused: a key or certificate that is none.
    case refused
    /// An algorithm, curve or key that this build of OpenSSL does not know.
    case unsupported
}

extension CryptoError: SelfDescribing {
    /// What failed.
    public var message: LocalizedText {
        switch self {
        case .libraryMissing:
            LocalizedText("libcrypto.so.3 (OpenSSL 3) is not installed", "libcrypto.so.3（OpenSSL 3）がインストールされていません")
        case .keyLength(let count): LocalizedText("a key of \(count) bytes is not possible", "\(count) バイトの鍵は使えません")
        case .dataLength(let count):
            LocalizedText("\(count) bytes are not a multiple of the block", "\(count) バイトはブロック長の倍数ではありません")
        case .refused: LocalizedText("OpenSSL refused the key or data", "OpenSSL が鍵またはデータを受け付けませんでした")
        case .unsupported:
            LocalizedText("OpenSSL does not know this algorithm, curve or key", "OpenSSL が対応していないアルゴリズム・曲線・鍵です")
        }
    }
}

extension CryptoError {
    /// Whether libcrypto can be opened; the first call opens it.
    package static var isLibraryThere: Bool { kazasu_crypto_is_there() != 0 }

    /// Yes or no, from the library's answer.
    static func answer(_ result: CInt) throws(CryptoError) -> Bool {
        switch result {
        case 1: true
        case KAZASU_CRYPTO_MISSING: throw .libraryMissing
        case KAZASU_CRYPTO_UNSUPPORTED: throw .unsupported
        default: false
        }
    }
}
