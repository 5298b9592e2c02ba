// SPDX-License-Identifier: Apache-2.0

package import CardCiphers
internal import CLibCrypto

/// A private key of RSA or an elliptic curve, with which a simulated card signs.
package struct PrivateKey: SecretValue {
    private let der: SecretBytes

    /// Creates a key from its DER, PKCS #8 or the traditional form.
    package init(der: SecretBytes) {
        self.der = der
    }

    /// Signs a message: PKCS #1 v1.5 with an RSA key, ECDSA as ASN.1 with another.
    ///
    /// - Throws: ``CryptoError/refused`` if it is not a key.
    package func sign(_ message: some Collection<UInt8>, digest: Digest) throws(CryptoError) -> [UInt8] {
        let hash = try digest.hash(message)
        var signature = [UInt8](repeating: 0, count: 2048)
        var count = signature.count
        let result = unsafe der.withUnsafeBytes { key in
            unsafe kazasu_crypto_sign(
                key.baseAddress?.assumingMemoryBound(to: UInt8.self), key.count, digest.rawValue, hash, hash.count,
                &signature, &count)
        }
        guard try CryptoError.answer(result), count <= signature.count else { throw .refused }
        return Array(signature.prefix(count))
    }
}
