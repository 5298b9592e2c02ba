// SPDX-License-Identifier: Apache-2.0

internal import CardCrypto
internal import CardModel

/// What a certificate is used for.
enum CertificateRole: Hashable, CaseIterable {
    /// To sign the data of a document.
    case documentSigner
    /// To authenticate its holder, or to sign for the holder.
    case holder
    /// To sign certificates.
    case authority
}

extension CertificateAuthorities {
    /// Judges a certificate by RFC 5280's rules for a path of two: who issued it by signature and name, what both certificates permit,
    /// and their times. One check for all documents.
    ///
    /// That the authority has expired since does not matter: it still proves the documents of its time.
    ///
    /// - Parameters:
    ///   - countries: codes of two letters, one of which both must have; `nil` where the country does not matter.
    func verdict(
        on certificate: Certificate, as role: CertificateRole, countries: Set<String>? = nil, at time: Timestamp
    ) throws(CryptoError) -> CardSignature.Verdict {
        guard !isEmpty else { return CardSignature.Verdict(.notChecked) }
        guard let profile = CertificateProfile(certificate) else { return CardSignature.Verdict(.malformed) }
        var isNamed = false
        var isUnsupported = false
        var unfit: CardSignature.Verdict?
        for authority in authorities {
            guard let own = authority.profile, own.subject == profile.issuer else { continue }
            do throws(CryptoError) {
                guard try certificate.isSigned(by: authority.certificate.key) else {
                    isNamed = isNamed || own.isSaidToIssue(profile)
                    continue
                }
            } catch {
                guard error == .unsupported else { throw error }
                isUnsupported = true
                continue
            }
            let name = authority.certificate.commonName ?? authority.certificate.subject
            let isInTime = authority.certificate.validity(at: certificate.notBefore) == .valid
            guard own.permits(profile), profile.isFit(for: role), isInTime else {
                unfit = unfit ?? CardSignature.Verdict(.certificateUnfit, why: .certificate, by: name)
                continue
            }
            if let countries {
                let found = [profile.subject.country, own.subject.country]
                guard found.allSatisfy({ $0.map(countries.contains) ?? false }) else {
                    unfit = unfit ?? CardSignature.Verdict(.certificateUnfit, why: .country, by: name)
                    continue
                }
            }
            let isValid = certificate.validity(at: time) == .valid
            return CardSignature.Verdict(isValid ? .valid : .certificateExpired, by: name)
        }
        if let unfit { return unfit }
        if isUnsupported { return CardSignature.Verdict(.unsupported) }
        return CardSignature.Verdict(isNamed ? .wrong : .unknownAuthority)
    }
}

extension CertificateProfile {
    /// Whether this authority has the name and the identifier of the key by which a certificate says it was issued: then its signature
    /// has to fit. The name alone says nothing: countries keep it when they change the key.
    fileprivate func isSaidToIssue(_ other: CertificateProfile) -> Bool {
        isAuthority && keyIdentifier != nil && keyIdentifier == other.authorityKeyIdentifier
    }

    /// Whether this certificate allows its key to sign that one.
    fileprivate func permits(_ other: CertificateProfile) -> Bool {
        guard isAuthority, !isUnreadable, usage?.contains(.certificateSigning) ?? true else { return false }
        // A root that signs itself does not count as a step of the path.
        let isRoot = other.subject == other.issuer
        if other.isAuthority, !isRoot, let pathLength, pathLength < 1 { return false }
        return isRoot && other.isAuthority || constraints?.permit(other.subject) ?? true
    }

    /// Whether it may be used so.
    fileprivate func isFit(for role: CertificateRole) -> Bool {
        guard !isUnreadable, isAuthority == (role == .authority) else { return false }
        switch role {
        case .authority: return usage?.contains(.certificateSigning) ?? true
        case .holder: return usage.map { !$0.isDisjoint(with: [.digitalSignature, .nonRepudiation]) } ?? true
        case .documentSigner:
            // No kind of document has a purpose of its own; 2.5.29.37.0 is any.
            let any: [UInt8] = [0x55, 0x1D, 0x25, 0x00]
            return usage?.contains(.digitalSignature) ?? true && extendedUsages?.contains(any) ?? true
        }
    }
}
