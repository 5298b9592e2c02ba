// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardCrypto
public import CardDecoders
public import CardModel

extension MyNumberReport {
    /// Checks the signature of the face, by the key of its certificate, and who issued that: a shipped key of J-LIS or one of a file.
    ///
    /// The layout comes first: its order and the table of offsets are not signed. Nothing in these certificates expires.
    ///
    /// - Parameters:
    ///   - dump: what was read.
    ///   - authorities: further keys that count.
    /// - Throws: ``CryptoError/libraryMissing``.
    public func faceSignature(
        of dump: CardDump, authorities: CertificateAuthorities = .none
    ) throws(CryptoError) -> CardSignature {
        let (state, authority) = try faceResult(dump, authorities)
        return CardSignature(
            state, by: authority, covers: ["birthDate", "sex", "namePicture", "addressPicture", "photo"],
            notCovered: ["expiryDate"])
    }

    /// Checks the signature of the four items: what the reader found, and who issued the certificate of the key.
    ///
    /// Only a report of a card that was just read can be checked. The file with the signature also has a digest of the personal number, so
    /// that no dump keeps it.
    ///
    /// - Parameters:
    ///   - dump: what was read with this report.
    ///   - authorities: further keys that count.
    /// - Throws: ``CryptoError/libraryMissing``.
    public func itemsSignature(
        of dump: CardDump, authorities: CertificateAuthorities = .none
    ) throws(CryptoError) -> CardSignature {
        let (state, authority) = try itemsResult(dump, authorities)
        return CardSignature(state, by: authority, covers: ["name", "address", "birthDate", "sex"], notCovered: [])
    }

    /// Checks who issued a certificate for user authentication or digital signatures, or who signed that of an authority.
    ///
    /// The authority's certificate on the card proves nothing by itself. Whether a certificate was revoked is not asked: only certified
    /// verifiers may.
    ///
    /// - Parameters:
    ///   - file: one of ``certificates``.
    ///   - authorities: certificates of authorities that count.
    ///   - time: now, `YYYYMMDDHHMMSS` in UTC.
    /// - Throws: ``CryptoError/libraryMissing``.
    public func chain(
        of file: MyNumberFile, authorities: CertificateAuthorities, at time: String
    ) throws(CryptoError) -> CardSignature {
        let (state, authority) = try chainResult(file, authorities, time)
        return CardSignature(state, by: authority, covers: ["certificate"], notCovered: ["revocation"])
    }
}

extension MyNumberReport {
    private typealias Outcome = (CardSignature.State, String?)

    /// A file of a dump as far as its signature goes.
    private enum Content {
        case bytes([UInt8])
        case unread
        /// The card refused it, though it must have it.
        case missing
    }

    private func content(_ file: MyNumberFile, _ dump: CardDump) -> Content {
        guard let found = file.application.aid.flatMap({ dump.application($0) })?.file(file.id) else { return .unread }
        switch found.state {
        case .read: return .bytes(found.data)
        case .refused: return .missing
        default: return .unread
        }
    }

    private func faceResult(
        _ dump: CardDump, _ authorities: CertificateAuthorities
    ) throws(CryptoError) -> Outcome {
        guard case .bytes(let file) = content(.face, dump) else { return (.notChecked, nil) }
        guard let objects = MyNumberFace.objects(of: file) else { return (.malformed, nil) }
        let certificate: CardVerifiableCertificate
        switch content(.faceCertificate, dump) {
        case .unread: return (.notChecked, nil)
        case .missing: return (.malformed, nil)
        case .bytes(let bytes):
            guard let found = CardVerifiableCertificate(bytes) else { return (.malformed, nil) }
            certificate = found
        }
        let parts = [
            objects.bytes(of: 0xDF22, 0xDF23, 0xDF24), objects.bytes(of: 0xDF25, 0xDF26), objects.bytes(of: 0xDF27),
        ]
        var digests: [UInt8] = []
        for part in parts { digests += try Digest.sha256.hash(part) }
        guard try certificate.key.recovers(objects.value(of: 0xDF28)) == Self.block(digests) else {
            return (.wrong, nil)
        }
        return try issued(certificate, .cardSurface, authorities)
    }

    /// PKCS #1 v1.5 for a key of 2,048 bits: three digests in the place of one, which libraries refuse as SHA-256.
    private static func block(_ digests: [UInt8]) -> [UInt8] {
        let sha256: [UInt8] = [
            0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00,
        ]
        let information = BERTLV(0x30, sha256 + BERTLV(0x04, digests).encoded).encoded
        let padding = [UInt8](repeating: 0xFF, count: max(0, 256 - 3 - information.count))
        return [0x00, 0x01] + padding + [0x00] + information
    }

    private func itemsResult(
        _ dump: CardDump, _ authorities: CertificateAuthorities
    ) throws(CryptoError) -> Outcome {
        switch itemsCheck {
        case nil, .notChecked: return (.notChecked, nil)
        case .absent: return (.absent, nil)
        case .malformed: return (.malformed, nil)
        case .wrong: return (.wrong, nil)
        case .right: break
        }
        guard case .bytes(let bytes) = content(.cardInputCertificate, dump) else { return (.notChecked, nil) }
        guard let certificate = CardVerifiableCertificate(bytes) else { return (.malformed, nil) }
        return try issued(certificate, .cardInput, authorities)
    }

    private func issued(
        _ certificate: CardVerifiableCertificate, _ application: MyNumberApplication,
        _ authorities: CertificateAuthorities
    ) throws(CryptoError) -> Outcome {
        switch try authorities.issuer(of: certificate, in: application) {
        case .known(let name): (.valid, name)
        case .forged: (.wrong, nil)
        case .unknown: (.unknownAuthority, nil)
        }
    }

    private func chainResult(
        _ file: MyNumberFile, _ authorities: CertificateAuthorities, _ time: String
    ) throws(CryptoError) -> Outcome {
        guard let der = certificates[file] else { return (.notChecked, nil) }
        guard let certificate = try Self.certificate(der) else { return (.malformed, nil) }
        let isAuthority = file == .authenticationCA || file == .signatureCA
        guard isAuthority || !certificate.isAuthority else { return (.malformed, nil) }
        if let issuer = try authorities.issuer(of: certificate) {
            let isInTime = certificate.validity(at: time) == .valid
            return (isInTime ? .valid : .certificateExpired, issuer.commonName ?? issuer.subject)
        }
        let unproved: Outcome = (authorities.isEmpty ? .notChecked : .unknownAuthority, nil)
        if isAuthority {
            // The roots sign themselves.
            guard certificate.subject == certificate.issuer else { return unproved }
            return try certificate.isSigned(by: certificate.key) ? unproved : (.wrong, nil)
        }
        guard let der = certificates[file == .signatureCertificate ? .signatureCA : .authenticationCA],
            let own = try Self.certificate(der), own.subject == certificate.issuer
        else { return unproved }
        return try certificate.isSigned(by: own.key) ? unproved : (.wrong, nil)
    }

    /// `nil` for bytes that are not a certificate.
    private static func certificate(_ der: [UInt8]) throws(CryptoError) -> Certificate? {
        do throws(CryptoError) {
            return try Certificate(der: der)
        } catch {
            guard error == .refused else { throw error }
            return nil
        }
    }
}
