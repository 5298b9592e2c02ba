// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardCrypto
public import CardDecoders
public import CardModel

extension ResidenceReport {
    /// Checks the signature of a residence card.
    ///
    /// The layout of the signed files comes first: tags and lengths are not signed. Then the signature, by the certificate on the card; then
    /// who issued that, by his signature; then its time. The time of the authority does not matter: an expired one still proves the
    /// cards that it signed.
    ///
    /// - Parameters:
    ///   - dump: what was read.
    ///   - authorities: those that count.
    ///   - time: now, `YYYYMMDDHHMMSS` in UTC.
    /// - Throws: ``CryptoError/libraryMissing``.
    public func signature(
        of dump: CardDump, authorities: CertificateAuthorities, at time: String
    ) throws(CryptoError) -> CardSignature {
        let (state, authority) = try result(ResidenceSignedContent(dump, on: type), authorities, time)
        return CardSignature(state, by: authority, covers: covered, notCovered: notCovered)
    }

    private func result(
        _ content: ResidenceSignedContent, _ authorities: CertificateAuthorities, _ time: String
    ) throws(CryptoError) -> (CardSignature.State, String?) {
        let (message, signature, der): ([UInt8], [UInt8], [UInt8])
        switch content {
        case .absent: return (.absent, nil)
        case .malformed: return (.malformed, nil)
        case .unread: return (.notChecked, nil)
        case .signed(let signed, let value, let certificate): (message, signature, der) = (signed, value, certificate)
        }
        let certificate: Certificate
        do throws(CryptoError) {
            certificate = try Certificate(der: der)
        } catch {
            guard error == .refused else { throw error }
            return (.malformed, nil)
        }
        guard try isRight(signature, message, certificate.key) else { return (.wrong, nil) }
        guard !authorities.isEmpty else { return (.notChecked, nil) }
        guard let issuer = try authorities.issuer(of: certificate), !certificate.isAuthority else {
            return (.unknownAuthority, nil)
        }
        let name = issuer.commonName ?? issuer.subject
        return (certificate.validity(at: time) == .valid ? .valid : .certificateExpired, name)
    }

    private func isRight(
        _ signature: [UInt8], _ message: [UInt8], _ key: PublicKey
    ) throws(CryptoError) -> Bool {
        guard type.generation == 2 else {
            return try key.verifies(signature, of: message, digest: .sha256, scheme: .pkcs1)
        }
        // Sources call it ASN.1, its length says two numbers of 48 bytes.
        if signature.count == 96, try key.verifies(signature, of: message, digest: .sha256, scheme: .ecdsaRaw) {
            return true
        }
        guard signature.first == 0x30, let header = try? BERHeader(signature), header.totalLength <= signature.count,
            signature.dropFirst(header.totalLength).allSatisfy({ $0 == 0 })
        else { return false }
        return try key.verifies(
            signature.prefix(header.totalLength), of: message, digest: .sha256, scheme: .ecdsa)
    }

    private var covered: [String] {
        switch type {
        case .residence1, .specialPermanent1: ["front", "photo"]
        case .specialPermanent2:
            ["validUntil", "birthDate", "sex", "nationality", "status", "period", "photo", "namePicture"]
        case .residence2:
            [
                "validUntil", "birthDate", "sex", "nationality", "status", "period", "permission", "permissionDate",
                "work", "until", "photo", "namePicture",
            ]
        default: []
        }
    }

    private var notCovered: [String] {
        switch type {
        case .residence1: ["kind", "address", "activities", "pending"]
        case .specialPermanent1: ["kind", "address"]
        case .residence2: ["kind", "number", "addressPicture", "activities", "pending", "remarks"]
        case .specialPermanent2: ["kind", "number", "addressPicture", "remarks"]
        default: []
        }
    }
}
