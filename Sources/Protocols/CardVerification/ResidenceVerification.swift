// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardCrypto
public import CardDecoders
public import CardModel

extension ResidenceReport {
    /// Checks the signature of a residence card.
    ///
    /// The layout of the signed files comes first: tags and lengths are not signed. Then the signature, by the certificate on the card; then
    /// whether a given authority issued that, what both permit, and the signer's time; then whether the card has the number that was
    /// typed. The time of the authority does not matter: an expired one still proves the cards that it signed.
    ///
    /// - Parameters:
    ///   - dump: what was read.
    ///   - authorities: those that count.
    ///   - time: when the signer's certificate has to be valid.
    /// - Throws: ``CryptoError/libraryMissing``.
    public func signature(
        of dump: CardDump, authorities: CertificateAuthorities, at time: Timestamp = .now
    ) throws(CryptoError) -> CardSignature {
        var verdict = try verdict(ResidenceSignedContent(dump, on: type), authorities, time)
        switch typed {
        case .other: verdict = CardSignature.Verdict(.otherDocument)
        case .unknown where verdict.state == .valid: verdict = CardSignature.Verdict(.incomplete)
        default: break
        }
        return CardSignature(verdict, covers: covered, notCovered: notCovered)
    }

    private func verdict(
        _ content: ResidenceSignedContent, _ authorities: CertificateAuthorities, _ time: Timestamp
    ) throws(CryptoError) -> CardSignature.Verdict {
        let (message, signature, der): ([UInt8], [UInt8], [UInt8])
        switch content {
        case .absent: return .init(.absent)
        case .malformed: return .init(.malformed)
        case .unread:
            return .init(authorities.isEmpty && (!withheld.isEmpty || type.isSpecified) ? .notChecked : .incomplete)
        case .signed(let signed, let value, let certificate): (message, signature, der) = (signed, value, certificate)
        }
        do throws(CryptoError) {
            let certificate = try Certificate(der: der)
            guard try isRight(signature, message, certificate.key) else { return .init(.wrong) }
            return try authorities.verdict(on: certificate, as: .documentSigner, at: time)
        } catch .refused {
            return .init(.malformed)
        } catch .unsupported {
            return .init(.unsupported)
        } catch {
            throw error
        }
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
