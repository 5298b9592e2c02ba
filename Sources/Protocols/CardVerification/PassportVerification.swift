// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardCrypto
public import CardDecoders
public import CardModel

extension PassportReport {
    /// Checks the signature of a passport: passive authentication (ICAO Doc 9303-11 §5.1).
    ///
    /// The digests of the data groups that were read come first; then the signature over their list, by the certificate in it; then who
    /// issued that, by his signature; then its time. The time of the authority does not matter: an expired one still proves the
    /// passports of its time.
    ///
    /// - Parameters:
    ///   - dump: what was read.
    ///   - authorities: country certificates that count.
    ///   - time: now, `YYYYMMDDHHMMSS` in UTC.
    /// - Throws: ``CryptoError/libraryMissing``.
    public func signature(
        of dump: CardDump, authorities: CertificateAuthorities, at time: String
    ) throws(CryptoError) -> CardSignature {
        let application = dump.application(PassportFile.application)
        let read = PassportFile.allCases.filter { application?.file($0.id)?.state == .read }
        let covered = [PassportFile.machineReadableZone, .face].filter(read.contains)
        let (state, authority) = try result(application, authorities, time)
        return CardSignature(
            state, by: authority, covers: covered.map(\.signatureItem),
            notCovered: read.contains(.index) ? [PassportFile.index.signatureItem] : [])
    }

    private func result(
        _ application: ApplicationDump?, _ authorities: CertificateAuthorities, _ time: String
    ) throws(CryptoError) -> (CardSignature.State, String?) {
        guard let file = application?.file(PassportFile.security.id) else { return (.notChecked, nil) }
        switch file.state {
        case .read: break
        // A passport must have it.
        case .refused: return (.malformed, nil)
        default: return (.notChecked, nil)
        }
        guard let outer = DERList.objects(file.data), outer.count == 1, outer[0].tag == 0x77,
            let signed = SignedData(outer[0].value), let list = DigestList(signed)
        else { return (.malformed, nil) }
        guard let digest = list.digest else { return (.notChecked, nil) }
        var isWhole = true
        for group in [PassportFile.machineReadableZone, .face] {
            guard let number = group.dataGroup, let expected = list.hashes[number] else { return (.malformed, nil) }
            guard let found = application?.file(group.id), found.state == .read else {
                isWhole = false
                continue
            }
            guard try digest.hash(found.data) == expected else { return (.wrong, nil) }
        }
        let certificate: Certificate
        switch try signed.check() {
        case .right(let signer): certificate = signer
        case .wrong: return (.wrong, nil)
        case .malformed: return (.malformed, nil)
        case .unknownAlgorithm: return (.notChecked, nil)
        }
        guard isWhole, !authorities.isEmpty else { return (.notChecked, nil) }
        guard let issuer = try authorities.issuer(of: certificate), !certificate.isAuthority else {
            return (authorities.isNamed(by: certificate) ? .wrong : .unknownAuthority, nil)
        }
        let name = issuer.commonName ?? issuer.subject
        return (certificate.validity(at: time) == .valid ? .valid : .certificateExpired, name)
    }
}

extension PassportFile {
    /// Its name in `covers` and `notCovered`.
    fileprivate var signatureItem: String {
        switch self {
        case .index: "dataGroups"
        case .machineReadableZone: "machineReadableZone"
        case .face: "photo"
        case .security: "signature"
        }
    }
}

/// LDSSecurityObject: SEQUENCE { version, algorithm of the digests, SEQUENCE OF SEQUENCE { number, digest }, … }
/// (ICAO Doc 9303-10 §4.6.2).
private struct DigestList {
    /// `nil` if it is not a known one.
    let digest: Digest?
    /// By the numbers of the data groups, 1 to 16.
    let hashes: [Int: [UInt8]]

    /// 2.23.136.1.1.1.
    private static let type: [UInt8] = [0x67, 0x81, 0x08, 0x01, 0x01, 0x01]

    /// `nil` for another content, an unknown number, or a number that is there twice.
    init?(_ signed: SignedData) {
        guard signed.type == Self.type, let parts = DERList.children(0x30, signed.content), parts.count >= 3,
            parts[0].tag == 0x02, let algorithm = parts[1].children(0x30)?.first, algorithm.tag == 0x06,
            let list = parts[2].children(0x30)
        else { return nil }
        var hashes: [Int: [UInt8]] = [:]
        for element in list {
            guard let pair = element.children(0x30), pair.count == 2, pair[0].tag == 0x02, pair[1].tag == 0x04,
                pair[0].value.count == 1, let number = pair[0].value.first.map(Int.init), (1...16).contains(number),
                hashes.updateValue(pair[1].value, forKey: number) == nil
            else { return nil }
        }
        digest = Digest(identifier: algorithm.value)
        self.hashes = hashes
    }
}

extension CertificateAuthorities {
    /// Whether one of them has the name of a certificate's issuer, and no other identifier of its key than the certificate says: its
    /// signature would have to fit. Countries keep the name when they change the key.
    fileprivate func isNamed(by certificate: Certificate) -> Bool {
        let wanted = certificate.keyIdentifier(.authority)
        return certificates.contains { authority in
            guard authority.isAuthority, authority.subject == certificate.issuer else { return false }
            guard let wanted, let own = authority.keyIdentifier(.subject) else { return true }
            return wanted == own
        }
    }
}

extension Certificate {
    /// Which key an identifier is of.
    fileprivate enum Key {
        case subject
        case authority
    }

    /// The identifier of its own or of its issuer's key (RFC 5280 §4.2.1.1 and .2); `nil` without one.
    fileprivate func keyIdentifier(_ key: Key) -> [UInt8]? {
        guard let body = DERList.children(0x30, der)?.first, let fields = body.children(0x30),
            let wrapper = fields.first(where: { $0.tag == 0xA3 }),
            let extensions = DERList.children(0x30, wrapper.value)
        else { return nil }
        // 2.5.29.14 and 2.5.29.35.
        let identifier: [UInt8] = [0x55, 0x1D, key == .subject ? 0x0E : 0x23]
        for element in extensions {
            guard let parts = element.children(0x30), parts.first?.value == identifier, let value = parts.last,
                value.tag == 0x04
            else { continue }
            guard key == .authority else {
                let objects = DERList.objects(value.value)
                return objects?.count == 1 && objects?[0].tag == 0x04 ? objects?[0].value : nil
            }
            return DERList.children(0x30, value.value)?.first { $0.tag == 0x80 }?.value
        }
        return nil
    }
}
