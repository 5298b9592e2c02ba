// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCiphers
internal import CardCrypto
package import CardModel
package import ISO7816

/// Reads an electronic passport into a dump, after PACE, after BAC, or plainly where the chip asks for nothing.
///
/// EF.CardAccess decides: what it lists is spoken. Then EF.COM, the machine-readable zone, the photo and EF.SOD are read, and where the
/// country put keys on the chip, the files with them; at the end the chip shows that it has the keys.
package struct PassportReader: IdentityReader {
    package var error: FileCardReadingError? { recorder.error }
    /// How it was opened.
    package private(set) var access: PassportAccess?
    /// What the chip answered to the question whether it is a copy.
    package private(set) var evidence = ChipEvidence()

    private let session: ISO7816Session
    private let random: (Int) -> [UInt8]
    private let listed: SecurityInfos
    private let lengths: ExtendedLengths?
    private var recorder: FileCardRecorder
    /// The way to the files, once they are open.
    private var files: PassportFiles?
    private var opening: Opening?

    /// How a session is opened again.
    private enum Opening {
        case pace(PACEInfo, PACE.Password, SecretBytes)
        case bac(PassportKey)
    }

    /// The longest EF.CardAccess and EF.CardSecurity.
    private static let longestInfos = 0x4000
    /// The short identifier of EF.CardAccess.
    private static let accessShortID: UInt8 = 0x1C

    /// Reads EF.CardAccess, and selects the application if that lists no PACE.
    ///
    /// - Parameter random: returns random bytes for the authentication.
    /// - Throws: ``FileCardReadingError``; ``FileCardReadingError/otherCard`` if it is not such a document.
    package init(
        _ session: ISO7816Session, _ card: CardIdentity,
        random: @escaping (Int) -> [UInt8]
    ) throws(FileCardReadingError) {
        self.session = session
        self.random = random
        recorder = FileCardRecorder(session, card)
        do throws(ISO7816Error) {
            let file = try Self.cardAccess(session)
            listed = SecurityInfos(file ?? [])
            lengths = try session.extendedLengths()
            if let file { recorder.add(FileDump(id: PassportFile.cardAccess, state: .read, data: file), of: nil) }
            if !listed.listsPACE { try session.select(.application(PassportFile.application)) }
        } catch .status {
            throw .otherCard
        } catch {
            throw .card(error)
        }
    }

    /// EF.CardAccess, by its identifier or by its short one; `nil` if the chip does not have it.
    private static func cardAccess(_ session: ISO7816Session) throws(ISO7816Error) -> [UInt8]? {
        // A fresh chip has its master file selected, and several refuse to select it.
        _ = try session.transmit(.select(.masterFile))
        do throws(ISO7816Error) {
            try session.select(.childEF(PassportFile.cardAccess))
            return try session.readDataObject(limit: longestInfos).data
        } catch .status {
            do throws(ISO7816Error) {
                let whole = try session.readFile(shortID: accessShortID, size: 0x100)
                return (try? BERHeader(whole)).map { Array(whole.prefix($0.totalLength)) }
            } catch .status {
                return nil
            }
        } catch .malformed(_, .notADataObject) {
            return nil
        }
    }

    // MARK: Opening

    /// Opens it with the password, once.
    ///
    /// - Parameter allowsLastTry: whether a password may be sent when the chip says that one try is left.
    package mutating func unlock(_ password: PassportPassword, allowsLastTry: Bool = false) {
        guard error == nil, access == nil else { return }
        do throws(FileCardReadingError) {
            var refusal: ISO7816Error?
            if try openByPACE(password, allowsLastTry: allowsLastTry, &refusal) { return }
            guard case .zone(let key) = password else {
                throw refusal.map { .secure(.card($0)) } ?? .noPACE
            }
            try openByBAC(key, afterRefusal: refusal)
        } catch {
            recorder.close(error)
        }
    }

    /// Tries the known protocols, best first, until the password counts; `false` if none was possible.
    private mutating func openByPACE(
        _ password: PassportPassword, allowsLastTry: Bool, _ refusal: inout ISO7816Error?
    ) throws(FileCardReadingError) -> Bool {
        let (kind, secret) = try Self.secret(password)
        for info in listed.pace.sorted(by: { $0.isBetter(than: $1) }).prefix(4) {
            do throws(PACE.Failure) {
                try enter(
                    try PACE.perform(
                        in: session, info, kind, secret, allowsLastTry: allowsLastTry, random: random))
                opening = .pace(info, kind, secret)
                access = PassportAccess(
                    .pace, variant: info.name, parameters: AgreementGroup.name(standard: Int(info.parameters)),
                    password: kind == .zone ? .mrz : .can)
                return true
            } catch {
                switch error {
                case .refused(let error): refusal = error
                case .failed(.crypto(.unsupported)): continue
                case .failed(.card(.status(.select, .fileNotFound))): throw .otherCard
                case .failed(let error): throw .secure(error)
                case .wrongPassword(let left): throw .wrongPassportKey(left)
                case .lastTry: throw .lastTry
                }
            }
        }
        return false
    }

    private static func secret(
        _ password: PassportPassword
    ) throws(FileCardReadingError) -> (PACE.Password, SecretBytes) {
        switch password {
        case .accessNumber(let number): return (.accessNumber, SecretBytes(number.bytes))
        case .zone(let key):
            do throws(CryptoError) {
                return (.zone, SecretBytes(try Digest.sha1.hash(key.information)))
            } catch {
                throw .secure(.crypto(error))
            }
        }
    }

    /// Reads EF.CardSecurity where the mapping needs it, and selects the application in the new session.
    private mutating func enter(_ outcome: PACE.Outcome) throws(PACE.Failure) {
        do throws(SecureMessagingError) {
            if let proof = outcome.proof, evidence.mapping == nil {
                evidence.mapping = proof
                try readCardSecurity(outcome.secure)
            }
            try Self.selectApplication(in: outcome.secure)
        } catch {
            throw .failed(error)
        }
        files = PassportFiles(secure: outcome.secure, lengths)
    }

    private static func selectApplication(in secure: SecureMessaging) throws(SecureMessagingError) {
        let selection = try secure.transmit(.select, p1: 0x04, p2: 0x0C, data: PassportFile.application.bytes)
        guard selection.status.isSuccess else { throw .card(.status(.select, selection.status)) }
    }

    private mutating func readCardSecurity(_ secure: SecureMessaging) throws(SecureMessagingError) {
        // With short lengths: a refusal could end the session.
        var files = PassportFiles(secure: secure, nil)
        do throws(SecureMessagingError) {
            // Outside the application a session is not opened again.
            let data = try files.read(PassportFile.cardSecurity, limit: Self.longestInfos) {
                () throws(SecureMessagingError) in throw .malformed(.objects)
            }
            recorder.add(FileDump(id: PassportFile.cardSecurity, state: .read, data: data), of: nil)
        } catch .card(.status) where !secure.isOver {
            return
        } catch .card(.malformed) {
            return
        }
    }

    private mutating func openByBAC(
        _ key: PassportKey, afterRefusal refusal: ISO7816Error?
    ) throws(FileCardReadingError) {
        do throws(SecureMessagingError) {
            if listed.listsPACE { try selectApplication() }
            files = PassportFiles(secure: try opened(key), lengths)
            opening = .bac(key)
            access = PassportAccess(.bac, password: .mrz, isFallback: listed.listsPACE)
        } catch .card(.status(.getChallenge, let status)) {
            if !listed.listsPACE { files = try openFiles() }
            guard files != nil else { throw noWay(refusal, .secure(.card(.status(.getChallenge, status)))) }
            access = PassportAccess(.none)
        } catch .card(.status(.select, let status)) {
            throw noWay(refusal, status == .fileNotFound ? .otherCard : .secure(.card(.status(.select, status))))
        } catch .card(.status(.externalAuthenticate, let status)) {
            // Chips that have PACE only refuse here, not before.
            let isPACEOnly = listed.listsPACE && [0x6985, 0x6A88].contains(status)
            let left: TriesLeft? = status.counter.map { $0 == 0 ? .locked : .count($0) }
            throw isPACEOnly ? noWay(refusal, .wrongPassportKey(left)) : .wrongPassportKey(left)
        } catch .wrongNumber {
            throw .wrongPassportKey(nil)
        } catch {
            throw .secure(error)
        }
    }

    /// Why neither PACE nor BAC opened it.
    private func noWay(_ refusal: ISO7816Error?, _ other: FileCardReadingError) -> FileCardReadingError {
        if let refusal { return .secure(.card(refusal)) }
        return listed.listsPACE ? .paceRequired : other
    }

    private func selectApplication() throws(SecureMessagingError) {
        do throws(ISO7816Error) {
            try session.select(.application(PassportFile.application))
        } catch {
            throw .card(error)
        }
    }

    private func opened(_ key: PassportKey) throws(SecureMessagingError) -> SecureMessaging {
        let (encryption, codes): (SessionCipher, SessionCipher)
        do throws(CryptoError) {
            let seed = Array(try Digest.sha1.hash(key.information).prefix(16))
            encryption = try SessionCipher(.tripleDES, key: SessionCipher.derived(from: seed, counter: 1))
            codes = try SessionCipher(.tripleDES, key: SessionCipher.derived(from: seed, counter: 2))
        } catch {
            throw .crypto(error)
        }
        let outcome = try MutualAuthentication.perform(
            in: session, encryption: encryption, authentication: codes, expected: 40, random: random)
        do throws(CryptoError) {
            return try SecureMessaging(authenticating: session, outcome)
        } catch {
            throw .crypto(error)
        }
    }

    /// The files of a passport that asks for nothing: old Belgian, Nigerian and Malaysian ones.
    private func openFiles() throws(FileCardReadingError) -> PassportFiles? {
        do throws(ISO7816Error) {
            try session.select(.application(PassportFile.application))
        } catch .status {
            return nil
        } catch {
            throw .card(error)
        }
        var files = PassportFiles(plain: session)
        for file in [PassportFile.index, .machineReadableZone] {
            do throws(SecureMessagingError) {
                try files.open(file.id)
                return files
            } catch .card(.status), .card(.malformed) {
                continue
            } catch {
                throw .secure(error)
            }
        }
        return nil
    }

    /// Opens a session again after the chip ended one.
    private func reopened() throws(SecureMessagingError) -> SecureMessaging {
        switch opening {
        case .pace(let info, let kind, let secret)?:
            let outcome: PACE.Outcome
            do throws(ISO7816Error) {
                _ = try session.transmit(.select(.masterFile))
            } catch {
                throw .card(error)
            }
            do throws(PACE.Failure) {
                outcome = try PACE.perform(
                    in: session, info, kind, secret, allowsLastTry: false, random: random)
            } catch {
                switch error {
                case .refused(let error): throw .card(error)
                case .failed(let error): throw error
                case .wrongPassword, .lastTry: throw .wrongNumber
                }
            }
            try Self.selectApplication(in: outcome.secure)
            return outcome.secure
        case .bac(let key)?:
            try selectApplication()
            return try opened(key)
        case nil: throw .malformed(.objects)
        }
    }

    // MARK: Reading

    /// Reads what was opened, lets the chip show its keys, and returns everything that was read.
    package mutating func finish() -> CardDump {
        for file in PassportFile.always { read(file) }
        let groups = groups
        for file in PassportFile.allCases where file.isForCopies && access != nil {
            guard let number = file.dataGroup, groups?.contains(number) ?? true else { continue }
            read(file)
        }
        if error == nil, access != nil { prove() }
        return recorder.dump
    }

    /// The contents of a file that was read.
    private func data(_ file: PassportFile) -> [UInt8]? {
        let found = recorder.dump.application(PassportFile.application)?.file(file.id)
        return found?.state == .read ? found?.data : nil
    }

    /// The data groups that EF.COM or EF.SOD names; `nil` if neither can be read.
    private var groups: Set<Int>? {
        let named = [
            data(.index).flatMap { PassportGroups.named(byIndex: $0) },
            data(.security).flatMap { PassportGroups.named(bySecurity: $0) },
        ].compactMap(\.self)
        // A list that cannot be read could name anything.
        guard named.count == 2 || data(.security) == nil && !named.isEmpty else { return nil }
        return named.reduce([]) { $0.union($1) }
    }

    private mutating func read(_ file: PassportFile) {
        guard var files else {
            return recorder.add(FileDump(id: file.id, state: .keyRequired), of: PassportFile.application)
        }
        let reader = self
        recorder.read(file.id, of: PassportFile.application) { () throws(SecureMessagingError) in
            try files.read(file.id) { () throws(SecureMessagingError) in try reader.reopened() }
        }
        self.files = files
    }

    // MARK: Copies

    /// Asks the chip to show its keys: active authentication first, since some chips cannot do it afterwards.
    private mutating func prove() {
        guard var files, !files.isPlain else {
            // Without a session there is no chip authentication, and active authentication would be sent in the clear.
            if data(.chipKey) != nil { evidence.active = .notDone(.refused) }
            if data(.protocols) != nil { evidence.chip = .notDone(.refused) }
            return
        }
        let reader = self
        func session() throws(SecureMessagingError) -> SecureMessaging? {
            try files.session { () throws(SecureMessagingError) in try reader.reopened() }
        }
        do throws(SecureMessagingError) {
            if let key = data(.chipKey), let secure = try session() {
                evidence.active = try active(key, secure)
            }
            guard let file = data(.protocols) else { return }
            let infos = SecurityInfos(dataGroup: file)
            guard infos.listsChipAuthentication else { return }
            guard let (way, key) = infos.chipAuthentication else {
                evidence.chip = .notDone(.algorithm)
                return
            }
            guard let secure = try session() else { return }
            let agreement = try ChipProof.chipAuthentication(in: secure, way, key.der, random: random)
            (evidence.chip, evidence.agreement) = (agreement.answer, agreement.record)
        } catch {
            recorder.refuse(.secure(error))
        }
    }

    private func active(
        _ file: [UInt8], _ secure: SecureMessaging
    ) throws(SecureMessagingError) -> ChipEvidence.Active? {
        guard let key = BERTLVList(tolerant: file)[0x6F]?.value, let length = PublicKey(der: key).signatureLength
        else { return .notDone(.algorithm) }
        return try ChipProof.activeAuthentication(in: secure, length: length, random: random)
    }
}

extension PassportReader {
    /// Reads EF.CardAccess, with the system's random bytes.
    package init(_ session: ISO7816Session, _ card: CardIdentity) throws(FileCardReadingError) {
        try self.init(session, card, random: MutualAuthentication.systemRandom)
    }
}
