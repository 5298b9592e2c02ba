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
        var verdict = try faceVerdict(dump, authorities)
        switch typed {
        case .other: verdict = .init(.otherDocument)
        case .unknown where verdict.state == .valid: verdict = .init(.incomplete)
        default: break
        }
        return CardSignature(
            verdict, covers: ["birthDate", "sex", "namePicture", "addressPicture", "photo"],
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
        return CardSignature(
            try itemsVerdict(dump, authorities), covers: ["name", "address", "birthDate", "sex"], notCovered: [])
    }

    /// Checks who issued a certificate for user authentication or digital signatures, or who signed that of an authority.
    ///
    /// The authority's certificate on the card proves nothing by itself. Whether a certificate was revoked is not asked: only certified
    /// verifiers may.
    ///
    /// - Parameters:
    ///   - file: one of ``certificates``.
    ///   - authorities: certificates of authorities that count.
    ///   - time: when the certificate has to be valid.
    /// - Throws: ``CryptoError/libraryMissing``.
    public func chain(
        of file: MyNumberFile, authorities: CertificateAuthorities, at time: Timestamp = .now
    ) throws(CryptoError) -> CardSignature {
        CardSignature(
            try chainVerdict(file, authorities, time), covers: ["certificate"], notCovered: ["revocation"])
    }
}

extension MyNumberReport {
    private typealias Verdict = CardSignature.Verdict

    /// The contents of a file; `nil` if it was not read.
    private func content(_ file: MyNumberFile, _ dump: CardDump) -> [UInt8]? {
        let found = file.application.aid.flatMap { dump.application($0) }?.file(file.id)
        return found.flatMap { $0.state == .read ? $0.data : nil }
    }

    private func faceVerdict(
        _ dump: CardDump, _ authorities: CertificateAuthorities
    ) throws(CryptoError) -> Verdict {
        guard let file = content(.face, dump) else { return Verdict(.incomplete) }
        guard let objects = MyNumberFace.objects(of: file) else { return Verdict(.malformed) }
        guard let bytes = content(.faceCertificate, dump) else { return Verdict(.incomplete) }
        guard let certificate = CardVerifiableCertificate(bytes) else { return Verdict(.malformed) }
        let parts = [
            objects.bytes(of: 0xDF22, 0xDF23, 0xDF24), objects.bytes(of: 0xDF25, 0xDF26), objects.bytes(of: 0xDF27),
        ]
        var digests: [UInt8] = []
        for part in parts { digests += try Digest.sha256.hash(part) }
        guard try certificate.key.recovers(objects.value(of: 0xDF28)) == Self.block(digests) else {
            return Verdict(.wrong)
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

    private func itemsVerdict(
        _ dump: CardDump, _ authorities: CertificateAuthorities
    ) throws(CryptoError) -> Verdict {
        switch itemsCheck {
        case nil, .notChecked: return Verdict(.notChecked)
        case .incomplete: return Verdict(.incomplete)
        case .absent: return Verdict(.absent)
        case .malformed: return Verdict(.malformed)
        case .wrong: return Verdict(.wrong)
        case .right: break
        }
        guard let bytes = content(.cardInputCertificate, dump) else { return Verdict(.incomplete) }
        guard let certificate = CardVerifiableCertificate(bytes) else { return Verdict(.malformed) }
        return try issued(certificate, .cardInput, authorities)
    }

    private func issued(
        _ certificate: CardVerifiableCertificate, _ application: MyNumberApplication,
        _ authorities: CertificateAuthorities
    ) throws(CryptoError) -> Verdict {
        switch try authorities.issuer(of: certificate, in: application) {
        case .known(let name): Verdict(.valid, by: name)
        case .forged: Verdict(.wrong)
        case .unknown: Verdict(.unknownAuthority)
        }
    }

    private func chainVerdict(
        _ file: MyNumberFile, _ authorities: CertificateAuthorities, _ time: Timestamp
    ) throws(CryptoError) -> Verdict {
        guard let der = certificates[file] else { return Verdict(authorities.isEmpty ? .notChecked : .incomplete) }
        let isAuthority = file == .authenticationCA || file == .signatureCA
        do throws(CryptoError) {
            let certificate = try Certificate(der: der)
            guard let profile = CertificateProfile(certificate), isAuthority || !profile.isAuthority else {
                return Verdict(.malformed)
            }
            let verdict = try authorities.verdict(on: certificate, as: isAuthority ? .authority : .holder, at: time)
            guard [.notChecked, .unknownAuthority].contains(verdict.state) else { return verdict }
            // The roots sign themselves; a holder's certificate is signed by the authority on the card.
            let own = isAuthority ? file : file == .signatureCertificate ? .signatureCA : .authenticationCA
            guard let issuer = certificates[own].flatMap({ try? Certificate(der: $0) }),
                CertificateProfile(issuer)?.subject == profile.issuer
            else { return verdict }
            return try certificate.isSigned(by: issuer.key) ? verdict : Verdict(.wrong)
        } catch .refused {
            return Verdict(.malformed)
        } catch .unsupported {
            return Verdict(.unsupported)
        } catch {
            throw error
        }
    }
}
