// SPDX-License-Identifier: Apache-2.0

internal import CLibCrypto

/// A digest that cards use.
package enum Digest: String, Hashable, Sendable, CaseIterable {
    case sha1 = "SHA1"
    case sha224 = "SHA224"
    case sha256 = "SHA256"
    case sha384 = "SHA384"
    case sha512 = "SHA512"

    /// Its length in bytes.
    package var length: Int {
        switch self {
        case .sha1: 20
        case .sha224: 28
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// Returns the digest of these bytes.
    package func hash(_ data: some Collection<UInt8>) throws(CryptoError) -> [UInt8] {
        let data = Array(data)
        var digest = [UInt8](repeating: 0, count: Int(KAZASU_DIGEST_MAX))
        var count = 0
        let result = unsafe kazasu_crypto_digest(rawValue, data, data.count, &digest, &count)
        guard try CryptoError.answer(result), count <= digest.count else { throw .refused }
        return Array(digest.prefix(count))
    }
}
