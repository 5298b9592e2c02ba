// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardCrypto
public import CardDecoders
public import CardModel

/// What the check of a passport's chip found: whether it is a copy.
///
/// A chip that was proved is not a copy. Whether it lies on the reader, or far away behind someone who passes on what is said, no check
/// can tell.
public struct ChipCheck: Hashable, Sendable {
    /// The result; only ``State/genuine`` is proof.
    @nonexhaustive
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// The chip has the key that the country signed.
        case genuine
        /// The chip does not have the key that it shows.
        case copied
        /// The signed list has a file with a key that the chip does not show.
        case hidden
        /// The country put no key on the chip.
        case notOffered
        /// The chip has the key that it shows, but whose that is was not verified.
        case unbound
        /// The chip offers it, and it was not done; ``ChipCheck/why`` says why.
        case notChecked
    }

    /// The protocol by which the chip shows its key.
    @nonexhaustive
    public enum Method: String, Hashable, Sendable, CaseIterable {
        /// A key agreement with the key of DG14.
        case chipAuthentication
        /// A signature by the key of DG15.
        case activeAuthentication
        /// A part of PACE, with the key of EF.CardSecurity.
        case paceMapping
    }

    /// Why the chip was not asked.
    @nonexhaustive
    public enum Obstacle: String, Hashable, Sendable, CaseIterable {
        /// An algorithm, a curve or a kind of key that is not supported.
        case algorithm
        /// The chip refused.
        case refused
        /// The reader cannot carry the exchange.
        case reader
        /// There is no chip: the data comes from files.
        case offline
    }

    /// The result.
    public let state: State
    /// The protocol that decided it; `nil` if none was done.
    public let method: Method?
    /// The protocol's variant, such as `ECDH-AES-128` or `RSA-SHA-256`.
    public let variant: String?
    /// Why it was not done; `nil` in every other state.
    public let why: Obstacle?

    package init(_ state: State, by method: Method? = nil, variant: String? = nil, why: Obstacle? = nil) {
        self.state = state
        self.method = method
        self.variant = variant
        self.why = why
    }

    /// `chip` of documents.
    package var json: JSONValue {
        [
            "state": .string(state.rawValue), "by": .text(method?.rawValue), "protocol": .text(variant),
            "why": .text(why?.rawValue),
        ]
    }
}

extension ChipCheck.State {
    /// Whether a program may go on.
    ///
    /// - Parameter isRequired: whether somebody wants proof that it is not a copy.
    public func isSuccess(whenRequired isRequired: Bool) -> Bool {
        switch self {
        case .genuine: true
        case .copied, .hidden: false
        case .notOffered, .unbound, .notChecked: !isRequired
        }
    }
}

extension ChipCheck.State: SelfDescribing {
    /// The result in words.
    public var message: LocalizedText {
        switch self {
        case .genuine:
            LocalizedText("not a copy: the chip has the key that the country signed", "複製ではない（署名された鍵を持つ）")
        case .copied: LocalizedText("a copy: the chip does not have the key", "複製（チップが鍵を持たない）")
        case .hidden:
            LocalizedText(
                "the signed list has a key file that the chip does not show: as a copy would",
                "署名一覧にある鍵ファイルをチップが見せない")
        case .notOffered:
            LocalizedText(
                "whether it is a copy cannot be told: the country put no key on the chip", "複製か判定できない（鍵なし）")
        case .unbound:
            LocalizedText(
                "the chip has the key that it shows; whose that is was not verified", "鍵はあるが署名で確認されていない")
        case .notChecked: LocalizedText("whether it is a copy was not checked", "未確認")
        }
    }
}

extension ChipCheck.Obstacle: SelfDescribing {
    /// The reason in words.
    public var message: LocalizedText {
        switch self {
        case .algorithm: LocalizedText("unknown algorithm or key", "未対応のアルゴリズムまたは鍵")
        case .refused: LocalizedText("the chip refused", "チップが拒否")
        case .reader: LocalizedText("the reader cannot carry it", "リーダーが長い応答に未対応")
        case .offline: LocalizedText("no chip was asked", "チップなし")
        }
    }
}

extension ChipCheck: SelfDescribing {
    /// The result in words, with the reason where it was not done.
    public var message: LocalizedText {
        guard let why else { return state.message }
        return state.message + LocalizedText(" (", "（") + why.message + LocalizedText(")", "）")
    }
}

extension PassportReport {
    /// Judges what the chip answered: chip authentication, chip-authentication mapping, and active authentication (ICAO Doc 9303-11 §6).
    ///
    /// The chip names its own keys. They count only if the country signed them: DG14 and DG15 by the list of digests, the key of the
    /// mapping by EF.CardSecurity's own signature.
    ///
    /// - Parameters:
    ///   - dump: what was read.
    ///   - signature: what ``signature(of:authorities:at:)`` found for it.
    ///   - authorities: country certificates that count.
    ///   - time: when the signer's certificate has to be valid.
    /// - Throws: ``CryptoError/libraryMissing``.
    public func chip(
        of dump: CardDump, signature: CardSignature, authorities: CertificateAuthorities, at time: Timestamp = .now
    ) throws(CryptoError) -> ChipCheck {
        let files = dump.application(PassportFile.application)
        let list = signature.list
        func data(_ file: PassportFile) -> [UInt8]? {
            files?.file(file.id).flatMap { $0.state == .read ? $0.data : nil }
        }
        func isSigned(_ file: PassportFile) -> Bool {
            list?.state == .valid && file.dataGroup.map { list?.matching.contains($0) ?? false } ?? false
        }
        let infos = SecurityInfos(dataGroup: data(.protocols) ?? [])
        var evidence = try self.evidence?.replayed(infos)
        let security = dump.application(nil)?.file(PassportFile.cardSecurity).flatMap {
            $0.state == .read ? $0.data : nil
        }
        if evidence?.isOffline ?? false {
            // Without the file with the key, what was saved says nothing.
            if data(.protocols) == nil { evidence?.chip = nil }
            if data(.chipKey) == nil { evidence?.active = nil }
            if security == nil { evidence?.mapping = nil }
        }
        var answers: [ChipAnswer] = []
        if let chip = evidence?.chip { answers.append(ChipAnswer(chip, isSigned: isSigned(.protocols))) }
        if let proof = evidence?.mapping {
            let countries = machineReadableZone.map { PassportCountry.certificates(of: $0.issuer) ?? [] }
            answers.append(
                try CardSecurity.answer(
                    to: proof, security, authorities, countries, time))
        }
        if let active = evidence?.active {
            let key = PublicKey(der: data(.chipKey).flatMap { BERTLVList(tolerant: $0)[0x6F]?.value } ?? [])
            answers.append(
                try ActiveAuthentication.answer(
                    active, key, algorithm: infos.signatureAlgorithm, isSigned: isSigned(.chipKey)))
        }
        let hidden = [PassportFile.protocols, .chipKey].contains { file in
            let isListed = file.dataGroup.map { list?.listed.contains($0) ?? false } ?? false
            guard evidence != nil, isListed else { return false }
            return switch files?.file(file.id)?.state {
            // Of saved files any may be left out.
            case nil: !(evidence?.isOffline ?? true)
            case .refused: true
            default: false
            }
        }
        // Of what was saved, the signature comes first: it convinces everybody.
        if evidence?.isOffline ?? false { answers.reverse() }
        return decide(answers, isHidden: hidden, infos, list?.listed ?? [])
    }

    private func decide(
        _ answers: [ChipAnswer], isHidden: Bool, _ infos: SecurityInfos, _ listed: [Int]
    ) -> ChipCheck {
        func first(_ result: ChipAnswer.Result) -> ChipAnswer? { answers.first { $0.result == result } }
        func check(_ state: ChipCheck.State, _ answer: ChipAnswer) -> ChipCheck {
            ChipCheck(state, by: answer.method, variant: answer.variant)
        }
        if let answer = first(.failed) { return check(.copied, answer) }
        if let answer = first(.signed) { return check(.genuine, answer) }
        if isHidden { return ChipCheck(.hidden) }
        if let answer = first(.unsigned) { return check(.unbound, answer) }
        for answer in answers {
            if case .notDone(let why) = answer.result {
                return ChipCheck(.notChecked, by: answer.method, variant: answer.variant, why: why)
            }
        }
        if evidence?.isOffline ?? true { return ChipCheck(.notChecked, why: .offline) }
        // What the list would name is not known.
        return listed.isEmpty ? ChipCheck(.notChecked, why: .refused) : ChipCheck(.notOffered)
    }
}

/// The result of one protocol.
struct ChipAnswer {
    enum Result: Hashable {
        /// The chip has the key, and the country signed it.
        case signed
        /// The chip has the key.
        case unsigned
        /// It does not.
        case failed
        case notDone(ChipCheck.Obstacle)
    }

    let method: ChipCheck.Method
    var variant: String?
    let result: Result

    init(_ method: ChipCheck.Method, _ variant: String?, _ result: Result) {
        (self.method, self.variant, self.result) = (method, variant, result)
    }

    /// Chip authentication, which decides itself during the exchange.
    init(_ chip: ChipEvidence.Static, isSigned: Bool) {
        switch chip {
        case .proved(let way): self.init(.chipAuthentication, way.name, isSigned ? .signed : .unsigned)
        case .failed(let way): self.init(.chipAuthentication, way.name, .failed)
        case .notDone(let why): self.init(.chipAuthentication, nil, .notDone(ChipCheck.Obstacle(why)))
        }
    }
}

extension ChipCheck.Obstacle {
    init(_ obstacle: ChipEvidence.Obstacle) {
        switch obstacle {
        case .algorithm: self = .algorithm
        case .refused: self = .refused
        case .reader: self = .reader
        case .offline: self = .offline
        }
    }
}

/// EF.CardSecurity: SecurityInfos, signed; and what the chip shows with its key during PACE (BSI TR-03110-3 §A.1.2.5, -2 §3.5).
private enum CardSecurity {
    /// 0.4.0.127.0.7.3.2.1, id-SecurityObject.
    private static let type: [UInt8] = [0x04, 0x00, 0x7F, 0x00, 0x07, 0x03, 0x02, 0x01]

    static func answer(
        to proof: ChipEvidence.MappingProof, _ file: [UInt8]?, _ authorities: CertificateAuthorities,
        _ countries: Set<String>?, _ time: Timestamp
    ) throws(CryptoError) -> ChipAnswer {
        func answer(_ result: ChipAnswer.Result) -> ChipAnswer { ChipAnswer(.paceMapping, proof.info.name, result) }
        guard let file else { return answer(.notDone(.refused)) }
        guard let signed = SignedData(file), signed.type == type else { return answer(.notDone(.algorithm)) }
        let number = [proof.info.parameters]
        let keys = SecurityInfos(signed.content).chipKeys
        // Of several keys on one curve, the one with the number of the parameters.
        let sorted = keys.filter { $0.id == number } + keys.filter { $0.id != number }
        var result: ChipAnswer.Result = .notDone(.algorithm)
        for candidate in sorted {
            do throws(CryptoError) {
                guard let key = try AgreementKey(der: candidate.der), key.group.number == Int(proof.info.parameters)
                else { continue }
                let point = try key.group.checked(proof.chipKey)
                guard let data = proof.data, !data.isEmpty else { return answer(.failed) }
                result = try key.group.product(of: key.publicKey, data) == point ? .unsigned : .failed
                break
            } catch .libraryMissing {
                throw .libraryMissing
            } catch .refused {
                result = .failed
            } catch {
                continue
            }
        }
        guard result == .unsigned, case .right(let signer) = try signed.check() else { return answer(result) }
        let verdict = try authorities.verdict(on: signer, as: .documentSigner, countries: countries, at: time)
        return answer(verdict.state == .valid ? .signed : .unsigned)
    }
}

/// The signature of a challenge by the key of DG15 (ICAO Doc 9303-11 §6.1).
enum ActiveAuthentication {
    /// The shortest modulus in bytes.
    private static let shortestModulus = 128

    static func answer(
        _ active: ChipEvidence.Active, _ key: PublicKey, algorithm: [UInt8]?, isSigned: Bool
    ) throws(CryptoError) -> ChipAnswer {
        func answer(_ variant: String?, _ result: ChipAnswer.Result) -> ChipAnswer {
            ChipAnswer(.activeAuthentication, variant, result)
        }
        switch active {
        case .notDone(let why): return answer(nil, .notDone(ChipCheck.Obstacle(why)))
        case .answered(let challenge, let signature):
            do throws(CryptoError) {
                guard let (digest, isRight) = try check(signature, of: challenge, key, algorithm) else {
                    return answer(nil, .notDone(.algorithm))
                }
                let variant = digest.map { "\(key.isRSA ? "RSA" : "ECDSA")-\($0.name)" }
                return answer(variant, !isRight ? .failed : isSigned ? .signed : .unsigned)
            } catch .libraryMissing {
                throw .libraryMissing
            } catch {
                return answer(nil, .notDone(.algorithm))
            }
        }
    }

    /// Whether the signature is right, and its digest where that is known; `nil` for a key or algorithm that is not supported.
    static func check(
        _ signature: [UInt8], of challenge: [UInt8], _ key: PublicKey, _ algorithm: [UInt8]?
    ) throws(CryptoError) -> (digest: Digest?, isRight: Bool)? {
        guard let length = key.signatureLength else { return nil }
        guard key.isRSA else { return try checkCurve(signature, of: challenge, key, algorithm, length / 2) }
        guard length >= shortestModulus else { return nil }
        guard signature.count <= length,
            let message = try key.recovers([UInt8](repeating: 0, count: length - signature.count) + signature)
        else { return (nil, false) }
        // The chip may have taken the smaller of the number and its negative.
        let negative = try key.modulus.map { modulus throws(CryptoError) in
            try Modular.difference([0], message, modulus)
        }
        for candidate in [message, negative ?? []] {
            guard let (digest, own, hash) = recovered(candidate) else { continue }
            return (digest, try digest.hash(own + challenge) == hash)
        }
        return (nil, false)
    }

    /// 6A, M1, digest, trailer (ISO/IEC 9796-2, scheme 1, partial recovery); leading zeros are left out.
    static func recovered(_ message: [UInt8]) -> (Digest, own: [UInt8], hash: [UInt8])? {
        var rest = message.drop { $0 == 0 }
        guard rest.popFirst() == 0x6A, let last = rest.popLast() else { return nil }
        let digest: Digest
        if last == 0xBC {
            digest = .sha1
        } else {
            guard last == 0xCC, let name = rest.popLast(), let known = trailers[name] else { return nil }
            digest = known
        }
        guard rest.count >= digest.length else { return nil }
        return (digest, Array(rest.dropLast(digest.length)), Array(rest.suffix(digest.length)))
    }

    /// ISO/IEC 10118-3; 31, RIPEMD-160, is not supported.
    private static let trailers: [UInt8: Digest] = [
        0x33: .sha1, 0x34: .sha256, 0x35: .sha512, 0x36: .sha384, 0x38: .sha224,
    ]

    private static func checkCurve(
        _ signature: [UInt8], of challenge: [UInt8], _ key: PublicKey, _ algorithm: [UInt8]?, _ width: Int
    ) throws(CryptoError) -> (digest: Digest?, isRight: Bool)? {
        var digests: [Digest] = [.sha256, .sha384, .sha512, .sha224].filter { $0.length <= max(width, 28) }
        if let algorithm {
            guard let known = SignedData.plainDigest(algorithm) else { return nil }
            digests = [known]
        }
        for digest in digests {
            // r and s as they are; some identity cards send them in DER.
            for scheme in [PublicKey.Scheme.ecdsaRaw, .ecdsa]
            where try key.verifies(signature, of: challenge, digest: digest, scheme: scheme) {
                return (digest, true)
            }
        }
        return (digests.count == 1 ? digests.first : nil, false)
    }
}

extension Digest {
    /// As documents name it.
    fileprivate var name: String { "SHA-\(rawValue.dropFirst(3))" }
}
