// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardCrypto
public import CardDecoders
public import CardModel

extension PassportReport {
    /// Checks the signature of a passport: passive authentication (ICAO Doc 9303-11 §5.1).
    ///
    /// The signature over the list of digests has to be right by the certificate in it, and that certificate has to be issued by a given
    /// authority of the document's country and to permit it. Then machine-readable zone and photo have to be read and to have the
    /// digests of the list, and the zone has to be the one that was typed. The time of the authority does not matter: an expired one
    /// still proves the passports of its time.
    ///
    /// - Parameters:
    ///   - dump: what was read.
    ///   - authorities: country certificates that count.
    ///   - time: when the signer's certificate has to be valid.
    /// - Throws: ``CryptoError/libraryMissing``.
    public func signature(
        of dump: CardDump, authorities: CertificateAuthorities, at time: Timestamp = .now
    ) throws(CryptoError) -> CardSignature {
        let application = dump.application(PassportFile.application)
        let read = PassportFile.allCases.filter { application?.file($0.id)?.state == .read }
        let covered = [PassportFile.machineReadableZone, .face].filter(read.contains)
        let security = application?.file(PassportFile.security.id)
        var list = SecurityObject(
            state: .init(authorities.isEmpty && security?.isWithheld ?? true ? .notChecked : .incomplete))
        if let security, security.state == .read {
            let countries = machineReadableZone.map { PassportCountry.certificates(of: $0.issuer) ?? [] }
            list = try SecurityObject(security.data, authorities, countries, time)
        }
        var (compared, matching) = ([Int](), [Int]())
        for number in list.hashes.keys.sorted() {
            guard let expected = list.hashes[number], let digest = list.digest,
                let file = application?.file(FileIdentifier(rawValue: 0x0100 + UInt16(number))), file.state == .read
            else { continue }
            compared.append(number)
            if try digest.hash(file.data) == expected { matching.append(number) }
        }
        var signature = CardSignature(
            verdict(list.state, isChanged: matching != compared, isWhole: compared.starts(with: [1, 2])),
            covers: covered.map(\.signatureItem),
            notCovered: read.contains(.index) ? [PassportFile.index.signatureItem] : [])
        signature.list = CardSignature.SignedList(
            list.state.state, listed: list.hashes.keys.sorted(), compared: compared, matching: matching)
        return signature
    }

    /// The state of the document, from that of its list.
    private func verdict(
        _ list: CardSignature.Verdict, isChanged: Bool, isWhole: Bool
    ) -> CardSignature.Verdict {
        if typed == .other { return CardSignature.Verdict(.otherDocument) }
        if [.wrong, .malformed].contains(list.state) { return list }
        if isChanged { return CardSignature.Verdict(.wrong) }
        guard isWhole || [.incomplete, .notChecked, .unsupported].contains(list.state) else {
            return CardSignature.Verdict(.incomplete)
        }
        if machineReadableZone == nil, isWhole { return CardSignature.Verdict(.malformed) }
        return list
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
        case .protocols: "chipProtocols"
        case .chipKey: "chipKey"
        }
    }
}

extension FileDump {
    /// Whether it was not even asked for.
    fileprivate var isWithheld: Bool { state == .keyRequired || state == .skipped }
}

/// EF.SOD: LDSSecurityObject, SEQUENCE { version, algorithm of the digests, SEQUENCE OF SEQUENCE { number, digest }, … }, signed
/// (ICAO Doc 9303-10 §4.6.2).
private struct SecurityObject {
    /// The state of the list by itself.
    var state: CardSignature.Verdict
    /// `nil` if it is not a known one.
    private(set) var digest: Digest?
    /// By the numbers of the data groups, 1 to 16.
    private(set) var hashes: [Int: [UInt8]] = [:]

    /// Types of the content with the same structure: ICAO's own, the former one (Belgium, France), plain data (China), Sdu's
    /// (Netherlands).
    private static let types: [[UInt8]] = [
        [0x67, 0x81, 0x08, 0x01, 0x01, 0x01], [0x2B, 0x1B, 0x01, 0x01, 0x01],
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01], [0x2A, 0x84, 0x10, 0x01, 0x87, 0x6E, 0x01, 0x14, 0x01],
    ]

    init(state: CardSignature.Verdict) { self.state = state }

    /// Parses the file and checks its signature.
    ///
    /// - Parameter countries: whose certificates count; `nil` where the document does not say its country.
    init(
        _ file: [UInt8], _ authorities: CertificateAuthorities, _ countries: Set<String>?, _ time: Timestamp
    ) throws(CryptoError) {
        self.init(state: .init(.malformed))
        guard let outer = DERList.objects(file), outer.count == 1, outer[0].tag == 0x77,
            let signed = SignedData(outer[0].value)
        else { return }
        guard Self.types.contains(signed.type) else {
            state = .init(.unsupported)
            return
        }
        guard let name = read(signed.content) else { return }
        digest = Digest(identifier: name)
        switch try signed.check() {
        case .right(let signer):
            state = try authorities.verdict(on: signer, as: .documentSigner, countries: countries, at: time)
        case .wrong: state = .init(.wrong)
        case .malformed: state = .init(.malformed)
        case .unsupported: state = .init(.unsupported)
        }
        if digest == nil, ![.wrong, .malformed].contains(state.state) { state = .init(.unsupported) }
    }

    /// Takes the digests over; `nil` for another content, an unknown number, or a number that is there twice.
    ///
    /// - Returns: the object identifier of the digests' algorithm.
    private mutating func read(_ content: [UInt8]) -> [UInt8]? {
        guard let parts = DERList.children(0x30, content), parts.count >= 3, parts[0].tag == 0x02,
            let algorithm = parts[1].children(0x30)?.first, algorithm.tag == 0x06, let list = parts[2].children(0x30)
        else { return nil }
        var found: [Int: [UInt8]] = [:]
        for element in list {
            guard let pair = element.children(0x30), pair.count == 2, pair[0].tag == 0x02, pair[1].tag == 0x04,
                pair[0].value.count == 1, let number = pair[0].value.first.map(Int.init), (1...16).contains(number),
                found.updateValue(pair[1].value, forKey: number) == nil
            else { return nil }
        }
        hashes = found
        return algorithm.value
    }
}
