// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CLibCrypto

/// A public key of RSA or of an elliptic curve, which checks signatures.
package struct PublicKey: Hashable, Sendable {
    /// SubjectPublicKeyInfo, DER.
    package let der: [UInt8]

    /// A key as certificates hold it. Whether it is one shows when it is used.
    package init(der: [UInt8]) {
        self.der = der
    }

    /// An RSA key.
    ///
    /// - Parameters:
    ///   - modulus: big-endian.
    ///   - exponent: big-endian, as in 01 00 01.
    package init(modulus: some Collection<UInt8>, exponent: some Collection<UInt8>) {
        let key = BERTLV(0x30, [DER.integer(modulus), DER.integer(exponent)])
        der = DER.publicKey(algorithm: BERTLV(0x30, [DER.rsaEncryption, BERTLV(0x05, [UInt8]())]), key: key.encoded)
    }

    /// A key of a named curve.
    ///
    /// - Parameter point: uncompressed, 04 ‖ x ‖ y.
    package init(curve: Curve, point: some Collection<UInt8>) {
        let algorithm = BERTLV(0x30, [DER.ecPublicKey, BERTLV(0x06, curve.identifier)])
        der = DER.publicKey(algorithm: algorithm, key: Array(point))
    }

    /// A curve by name; certificates bring others.
    package enum Curve: Hashable, Sendable, CaseIterable {
        /// 128 bits, of NXP's first originality signatures; some builds of OpenSSL leave it out.
        case secp128r1
        case secp192r1
        case secp224r1
        case secp256r1
        case secp384r1
        case secp521r1

        /// The content of its object identifier.
        var identifier: [UInt8] {
            switch self {
            case .secp128r1: [0x2B, 0x81, 0x04, 0x00, 0x1C]
            case .secp192r1: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x01]
            case .secp224r1: [0x2B, 0x81, 0x04, 0x00, 0x21]
            case .secp256r1: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
            case .secp384r1: [0x2B, 0x81, 0x04, 0x00, 0x22]
            case .secp521r1: [0x2B, 0x81, 0x04, 0x00, 0x23]
            }
        }
    }

    /// The length of a signature in bytes: of the modulus, or of r and s; `nil` for another kind of key.
    package var signatureLength: Int? {
        if let modulus { return modulus.count }
        guard let (name, key) = parts, name == DER.ecPublicKey.value else { return nil }
        return key.count - 1
    }

    /// The modulus of a key of RSA, without leading zeros.
    package var modulus: [UInt8]? {
        guard let (name, key) = parts, name == DER.rsaEncryption.value else { return nil }
        return BERTLVList(tolerant: key)[0x30]?.children?.first?.value.withoutLeadingZeros
    }

    /// The content of the algorithm's object identifier, and the key.
    private var parts: (name: [UInt8], key: [UInt8])? {
        guard let parts = BERTLVList(tolerant: der)[0x30]?.children, parts.count == 2, parts[1].value.first == 0,
            let name = parts[0].children?.first
        else { return nil }
        return (name.value, Array(parts[1].value.dropFirst()))
    }

    /// Whether it is a key of RSA.
    package var isRSA: Bool { modulus != nil }

    /// How a signature was made.
    package enum Scheme: Hashable, Sendable {
        /// RSA with PKCS #1 v1.5 padding.
        case pkcs1
        /// RSA-PSS with a salt of any length and the digest of MGF1, which is mostly the message's own.
        case pss(mask: Digest)
        /// ECDSA as ASN.1: SEQUENCE of r and s.
        case ecdsa
        /// ECDSA as r ‖ s, two numbers of the same length, big-endian.
        case ecdsaRaw
    }

    /// Whether a signature over a message is right.
    ///
    /// - Throws: ``CryptoError/libraryMissing``, or ``CryptoError/unsupported`` for a key that OpenSSL cannot use. A signature that makes
    ///   no sense is not right.
    package func verifies(
        _ signature: some Collection<UInt8>, of message: some Collection<UInt8>, digest: Digest, scheme: Scheme
    ) throws(CryptoError) -> Bool {
        try check(signature, digest: digest.hash(message), name: digest.rawValue, scheme: scheme)
    }

    /// Whether an ECDSA signature r ‖ s over a value of any length is right, such as a UID that was signed without a digest.
    /// Of a value longer than the curve's order the leftmost bits count.
    ///
    /// - Throws: ``CryptoError/libraryMissing``. By a key that OpenSSL cannot use, none is right.
    package func verifies(
        rawECDSA signature: some Collection<UInt8>, ofValue value: some Collection<UInt8>
    ) throws(CryptoError) -> Bool {
        do throws(CryptoError) {
            return try check(signature, digest: Array(value), name: nil, scheme: .ecdsaRaw)
        } catch {
            guard error == .unsupported else { throw error }
            return false
        }
    }

    /// Applies RSA's public operation to a signature, without looking at its padding.
    ///
    /// - Returns: as many bytes as the modulus has, or nil if the key is not an RSA key or the signature no number below its modulus.
    package func recovers(_ signature: some Collection<UInt8>) throws(CryptoError) -> [UInt8]? {
        let signature = Array(signature)
        var output = [UInt8](repeating: 0, count: 2048)
        var count = output.count
        let result = unsafe kazasu_crypto_rsa_public(der, der.count, signature, signature.count, &output, &count)
        return try CryptoError.answer(result) && count <= output.count ? Array(output.prefix(count)) : nil
    }

    private func check(
        _ signature: some Collection<UInt8>, digest: [UInt8], name: String?, scheme: Scheme
    ) throws(CryptoError) -> Bool {
        var signature = Array(signature)
        var mask: String?
        switch scheme {
        case .pkcs1, .ecdsa: break
        case .pss(let digest): mask = digest.rawValue
        case .ecdsaRaw:
            guard !signature.isEmpty, signature.count.isMultiple(of: 2) else { return false }
            let half = signature.count / 2
            signature =
                BERTLV(0x30, [DER.integer(signature.prefix(half)), DER.integer(signature.suffix(half))]).encoded
        }
        let padding = mask == nil ? KAZASU_CRYPTO_PLAIN : KAZASU_CRYPTO_PSS
        let result = unsafe kazasu_crypto_verify(
            der, der.count, padding, name, mask, digest, digest.count, signature, signature.count)
        return try CryptoError.answer(result)
    }
}

/// What is written in DER.
enum DER {
    /// 1.2.840.113549.1.1.1.
    static let rsaEncryption = BERTLV(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01])
    /// 1.2.840.10045.2.1.
    static let ecPublicKey = BERTLV(0x06, [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01])

    /// A positive INTEGER from big-endian bytes.
    static func integer(_ bytes: some Collection<UInt8>) -> BERTLV {
        let digits = Array(bytes.drop { $0 == 0 })
        return BERTLV(0x02, (digits.first ?? 0x80) & 0x80 == 0 ? digits : [0] + digits)
    }

    static func publicKey(algorithm: BERTLV, key: [UInt8]) -> [UInt8] {
        BERTLV(0x30, [algorithm, BERTLV(0x03, [0] + key)]).encoded
    }
}
