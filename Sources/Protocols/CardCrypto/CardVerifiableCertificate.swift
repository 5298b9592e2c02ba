// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// A card-verifiable certificate as My Number cards have it: 7F21 { 5F4E issuer 16 ‖ subject 16 ‖ key, 5F37 signature }.
///
/// Source: soltia48/myna-card.
package struct CardVerifiableCertificate: Hashable, Sendable {
    /// The identifier of the key that signed it, 16 bytes.
    package let issuer: [UInt8]
    /// The identifier of its own key, 16 bytes.
    package let subject: [UInt8]
    package let key: PublicKey
    /// What is signed: the value of 5F4E.
    private let body: [UInt8]
    private let signature: [UInt8]

    /// Parses a certificate; `nil` if it is none.
    package init?(_ bytes: some Collection<UInt8>) {
        guard let template = BERTemplate(bytes, 0x7F21, containing: [0x5F4E, 0x5F37]) else { return nil }
        body = template.value(of: 0x5F4E)
        signature = template.value(of: 0x5F37)
        guard body.count > 32, !signature.isEmpty, let key = PublicKey(cardKey: body.dropFirst(32)) else { return nil }
        issuer = Array(body[..<16])
        subject = Array(body[16..<32])
        self.key = key
    }

    /// Whether this key made the certificate's signature.
    ///
    /// - Throws: ``CryptoError/libraryMissing``.
    package func isSigned(by key: PublicKey) throws(CryptoError) -> Bool {
        try key.verifies(signature, of: body, digest: .sha256, scheme: .pkcs1)
    }
}

extension PublicKey {
    /// An RSA key of 2,048 bits as My Number cards have it: 90 exponent, 91 modulus; `nil` for anything else.
    package init?(cardKey bytes: some Collection<UInt8>) {
        let objects = BERTLVList(tolerant: bytes)
        guard objects.fault == nil, objects.objects.map(\.tag) == [0x90, 0x91], let exponent = objects[0x90]?.value,
            exponent == [0x01, 0x00, 0x01], let modulus = objects[0x91]?.value, modulus.count == 256,
            let first = modulus.first, first >= 0x80
        else { return nil }
        self.init(modulus: modulus, exponent: exponent)
    }
}
