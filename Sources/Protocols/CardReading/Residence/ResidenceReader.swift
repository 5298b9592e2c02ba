// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto
package import CardModel
package import ISO7816

/// Reads a residence card or a special permanent resident certificate of either generation into a dump.
///
/// Without the number it reads the type and the version. Cards that are part of a My Number card are recognized and not read. Of
/// the partial reads it knows, only the form of the specification's examples was ever seen; see ``SecureMessaging``.
package struct ResidenceReader: IdentityReader {
    package var error: FileCardReadingError? { recorder.error }
    /// The type of card.
    package let type: ResidenceType

    private let session: ISO7816Session
    private let random: (Int) -> [UInt8]
    private var recorder: FileCardRecorder
    private var secure: SecureMessaging?

    /// Reads what is free.
    ///
    /// - Parameter random: returns random bytes for the authentication.
    /// - Throws: ``FileCardReadingError``; ``FileCardReadingError/otherCard`` if it is not such a card.
    package init(
        _ session: ISO7816Session, _ card: CardIdentity,
        random: @escaping (Int) -> [UInt8]
    ) throws(FileCardReadingError) {
        self.session = session
        self.random = random
        recorder = FileCardRecorder(session, card)
        let kind: [UInt8]
        do throws(ISO7816Error) {
            let isSpecified = try !Self.select(ResidenceFile.numberApplication, in: session)
            if isSpecified {
                guard try Self.select(ResidenceFile.specifiedApplication, in: session) else {
                    throw .status(.select, 0x6A82)
                }
            } else {
                let whole = try session.transmit(.select(.masterFileWithoutName, answer: .fileControlInformation))
                if !whole.status.isSuccess { try session.select(.masterFile) }
            }
            kind = try session.readFile(shortID: ResidenceFile.type.shortID, size: 16)
            let version = try session.readFile(shortID: ResidenceFile.version.shortID, size: 16)
            for (file, data) in [(ResidenceFile.type, kind), (.version, version)] {
                recorder.add(
                    FileDump(id: file.id, state: .read, data: data),
                    of: isSpecified ? ResidenceFile.specifiedApplication : nil)
            }
        } catch .status {
            throw .otherCard
        } catch {
            throw .card(error)
        }
        guard let code = Self.type(kind) else { throw .otherCard }
        guard let type = ResidenceType(rawValue: code) else { throw .unknownType(code) }
        self.type = type
        if type.isSpecified { recorder.refuse(.unsupported(type)) }
    }

    private static func select(_ application: AID, in session: ISO7816Session) throws(ISO7816Error) -> Bool {
        let answer = try session.transmit(.select(.application(application)))
        switch answer.status {
        case .success: return true
        case .fileNotFound: return false
        default: throw .status(.select, answer.status)
        }
    }

    /// The printable characters of the object C1.
    private static func type(_ data: [UInt8]) -> String? {
        guard data.first == 0xC1, data.count >= 2, (1...4).contains(data[1]), data.count >= 2 + Int(data[1]) else {
            return nil
        }
        let code = data.dropFirst(2).prefix(Int(data[1]))
        return code.allSatisfy { (0x30...0x39).contains($0) } ? String(decoding: code, as: UTF8.self) : nil
    }

    /// Presents the number, once.
    package mutating func unlock(_ number: ResidenceNumber) {
        guard error == nil, secure == nil, !type.isSpecified else { return }
        do throws(SecureMessagingError) {
            secure = try opened(number)
        } catch {
            recorder.close(.secure(error))
        }
    }

    private func opened(_ number: ResidenceNumber) throws(SecureMessagingError) -> SecureMessaging {
        do throws(ISO7816Error) {
            try session.select(.application(ResidenceFile.numberApplication))
        } catch {
            throw .card(error)
        }
        let kind: SessionCipher.Kind = type.generation == 1 ? .tripleDES : .aes
        let key: SessionCipher
        do throws(CryptoError) {
            key = try SessionCipher(kind, key: SecretBytes(try Digest.sha1.hash(number.bytes).prefix(16)))
        } catch {
            throw .crypto(error)
        }
        let outcome = try MutualAuthentication.perform(
            in: session, encryption: key, authentication: key, expected: 0x100, random: random)
        let secure: SecureMessaging
        do throws(CryptoError) {
            secure = try SecureMessaging(encrypting: session, kind, seed: outcome.seed)
        } catch {
            throw .crypto(error)
        }
        let answer = try secure.transmit(.verify, p2: 0x86, data: number.bytes)
        switch answer.status {
        case .success: return secure
        case 0x6300: throw .wrongNumber
        default: throw .card(.status(.verify, answer.status))
        }
    }

    package mutating func finish() -> CardDump {
        var current: AID?
        let reader = self
        for file in ResidenceFile.files(of: type) {
            guard let secure = reader.secure else {
                recorder.add(FileDump(id: file.id, state: .keyRequired), of: file.application)
                continue
            }
            let size = file.size(on: type)
            recorder.read(file.id, of: file.application) { () throws(SecureMessagingError) in
                if let application = file.application, application != current {
                    try Self.enter(application, reader.session)
                    current = application
                }
                return try reader.read(file, size, secure)
            }
        }
        return recorder.dump
    }

    private static func enter(_ application: AID, _ session: ISO7816Session) throws(SecureMessagingError) {
        do throws(ISO7816Error) {
            try session.select(.application(application))
        } catch {
            throw .card(error)
        }
    }

    private func read(_ file: ResidenceFile, _ size: Int, _ secure: SecureMessaging) throws(SecureMessagingError)
        -> [UInt8]
    {
        if file.isEncrypted { return try secure.readFile(shortID: file.shortID, size: size) }
        do throws(ISO7816Error) {
            return try session.readFile(shortID: file.shortID, size: size)
        } catch {
            throw .card(error)
        }
    }
}

extension ResidenceReader {
    /// Reads what is free, with the system's random bytes.
    package init(_ session: ISO7816Session, _ card: CardIdentity) throws(FileCardReadingError) {
        try self.init(session, card, random: MutualAuthentication.systemRandom)
    }
}
