// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardCiphers
package import CardCrypto
package import CardModel
internal import ReaderCore

/// Password authenticated connection establishment: from a short password to the keys of a session that nobody can guess who listened.
///
/// Source: ICAO Doc 9303-11 §4.4; BSI TR-03110-2 §3.2 and -3 §B.1.
package struct PACE {
    /// A password that is printed on the document; PIN and PUK are never sent.
    package enum Password: UInt8, Hashable, Sendable {
        /// The SHA-1 of number, birth date and expiry with their check digits.
        case zone = 1
        /// The card access number.
        case accessNumber = 2
    }

    /// What a successful exchange leaves.
    package struct Outcome {
        /// The session; its counter is 0.
        package let secure: SecureMessaging
        /// What the chip sent to show that it is not a copy; chip-authentication mapping only.
        package let proof: ChipEvidence.MappingProof?
    }

    /// Why the exchange gave no session.
    package enum Failure: Error, Hashable, Sendable {
        /// The chip, or the reader, refused before the password counted.
        case refused(ISO7816Error)
        /// The chip does not accept the password; the tries left, where it counts.
        case wrongPassword(TriesLeft?)
        /// One try is left, and the caller does not allow it; no password was used.
        case lastTry
        /// An exchange failed, or an answer is not as it must be.
        case failed(SecureMessagingError)
    }

    /// The time allowed for an answer: slow chips take seven seconds.
    private static let timeout: Duration = .seconds(15)
    /// How often an exchange over numbers starts again because its secret begins with a zero.
    private static let mostRounds = 8

    private let session: ISO7816Session
    private let info: PACEInfo
    private let group: AgreementGroup
    private let random: (Int) -> [UInt8]

    /// Authenticates with a chip whose master file is selected.
    ///
    /// - Parameters:
    ///   - info: a protocol that the chip lists.
    ///   - secret: the 20 bytes of the zone's digest, or the digits of the access number.
    ///   - allowsLastTry: whether a password may be sent when the chip says that one try is left.
    ///   - random: returns random bytes.
    package static func perform(
        in session: ISO7816Session, _ info: PACEInfo, _ password: Password, _ secret: SecretBytes,
        allowsLastTry: Bool, random: @escaping (Int) -> [UInt8]
    ) throws(Failure) -> Outcome {
        let usual = session.timeout
        session.timeout = max(usual, timeout)
        defer { session.timeout = usual }
        do {
            guard let group = try AgreementGroup(standard: Int(info.parameters)), group.isCurve == info.mapping.isCurve
            else { throw CryptoError.unsupported }
            let exchange = PACE(session: session, info: info, group: group, random: random)
            for _ in 0..<mostRounds {
                try exchange.choose(password, allowsLastTry: allowsLastTry)
                if let outcome = try exchange.run(secret) { return outcome }
            }
            throw SecureMessagingError.malformed(.key)
        } catch let error as Failure {
            throw error
        } catch CryptoError.refused {
            throw .failed(.malformed(.key))
        } catch {
            throw .failed(SecureMessagingError(error))
        }
    }

    private init(
        session: ISO7816Session, info: PACEInfo, group: AgreementGroup, random: @escaping (Int) -> [UInt8]
    ) {
        (self.session, self.info, self.group, self.random) = (session, info, group, random)
    }

    // MARK: Exchanges

    /// MSE:Set AT, always with the parameters: chips with several sets take another than the reader otherwise.
    private func choose(_ password: Password, allowsLastTry: Bool) throws(any Error) {
        let data =
            BERTLV(0x80, info.identifier).encoded + BERTLV(0x83, [password.rawValue]).encoded
            + BERTLV(0x84, [info.parameters]).encoded
        let command = CommandAPDU(.manageSecurityEnvironment, p1: 0xC1, p2: 0xA4, data: data)
        let status = try send(command).status
        guard status != .success else { return }
        guard let left = status.counter, left > 0 else {
            throw Failure.refused(.status(.manageSecurityEnvironment, status))
        }
        guard left > 1 || allowsLastTry else { throw Failure.lastTry }
    }

    /// Steps 1 to 4; `nil` if both sides might understand the secret differently, before anything was counted.
    private func run(_ secret: SecretBytes) throws(any Error) -> Outcome? {
        var nonce = try nonce(secret)
        defer { nonce.wipe() }
        var proof: ChipEvidence.MappingProof?
        var keys: [OwnKey] = []
        let mapped: AgreementGroup
        if info.mapping.isIntegrated {
            let own = random(info.cipher.keyLength)
            guard own.count == info.cipher.keyLength else { throw CryptoError.refused }
            // The chip sends nothing for the mapping: an empty object, or none.
            _ = try step([BERTLV(0x81, own)])
            mapped = try group.mapped(IntegratedMapping.bytes(nonce, own, info.cipher, primeWidth: group.width))
        } else {
            var key = try group.privateKey(random)
            defer { key.wipe() }
            let own = try group.publicKey(of: key)
            let theirs = try object(0x82, step([BERTLV(0x81, group.written(own))]))
            guard try group.checked(theirs) != own else { throw SecureMessagingError.malformed(.key) }
            mapped = try group.mapped(nonce: nonce, key, with: theirs)
            if info.mapping == .chipAuthentication {
                proof = ChipEvidence.MappingProof(info: info, chipKey: theirs, data: nil)
                keys.append(OwnKey(key))
            }
        }
        var key = try mapped.privateKey(random)
        defer { key.wipe() }
        let own = try mapped.publicKey(of: key)
        let theirs = try object(0x84, step([BERTLV(0x83, group.written(own))]))
        guard try mapped.checked(theirs) != own else { throw SecureMessagingError.malformed(.key) }
        var agreed = try mapped.agreed(key, with: theirs)
        defer { agreed.wipe() }
        // Some chips leave out leading zeros of numbers, others do not.
        if !group.isCurve, agreed.first == 0 { return nil }
        let encrypted = try confirm(agreed, own: own, theirs: theirs)
        if let first = proof?.chipKey {
            proof?.data = try encrypted.flatMap { try ChipMapping.data($0, info.cipher, agreed) }
            proof?.record = MappingRecord(
                name: info.name, parameters: AgreementGroup.name(standard: Int(info.parameters)) ?? "", nonce: nonce,
                privateKeys: keys + [OwnKey(key)], chipKeys: [first, theirs], encryptedChipData: encrypted)
        }
        return Outcome(
            secure: try SecureMessaging(authenticating: session, info.cipher, secret: agreed), proof: proof)
    }

    private func nonce(_ secret: SecretBytes) throws(any Error) -> [UInt8] {
        let encrypted = try object(0x80, step([]))
        var password = unsafe secret.withUnsafeBytes { unsafe Array($0) }
        defer { password.wipe() }
        let cipher = try SessionCipher(info.cipher, from: password, purpose: 3)
        guard (8...64).contains(encrypted.count), encrypted.count.isMultiple(of: cipher.blockLength),
            !info.mapping.isIntegrated || encrypted.count == IntegratedMapping.nonceLength(info.cipher)
        else { throw SecureMessagingError.malformed(.nonce) }
        return try cipher.decrypt(encrypted)
    }

    /// Exchanges the tokens: each side's code over the other side's key.
    ///
    /// - Returns: the encrypted chip authentication data, if the chip sent any.
    private func confirm(_ agreed: [UInt8], own: [UInt8], theirs: [UInt8]) throws(any Error) -> [UInt8]? {
        let codes = try SessionCipher(info.cipher, from: agreed, purpose: 2)
        func token(_ key: [UInt8]) throws(CryptoError) -> [UInt8] {
            let element = BERTLV(group.isCurve ? 0x86 : 0x84, group.written(key))
            return try codes.code(BERTLV(0x7F49, [BERTLV(0x06, info.identifier), element]).encoded)
        }
        let data = BERTLV(0x7C, [BERTLV(0x85, try token(theirs))]).encoded
        let response = try send(CommandAPDU(.generalAuthenticate, data: data, ne: 0x100))
        guard response.status == .success else {
            throw Failure.wrongPassword(response.status.counter.map { $0 == 0 ? .locked : .count($0) })
        }
        let objects = Self.objects(response.data)
        guard let answer = objects?[0x86]?.value else { throw SecureMessagingError.malformed(.objects) }
        guard answer == (try token(own)) else { throw SecureMessagingError.malformed(.code) }
        return objects?[0x8A]?.value
    }

    // MARK: Commands

    /// One step of GENERAL AUTHENTICATE before the last, in a chain.
    private func step(_ objects: [BERTLV]) throws(any Error) -> [UInt8] {
        let data = BERTLV(0x7C, objects).encoded
        let response = try send(
            CommandAPDU(
                .generalAuthenticate, cla: 0x10, data: data, ne: 0x100,
                lengthForm: data.count > 0xFF ? .extended : .short))
        guard response.status == .success else { throw Failure.refused(.status(.generalAuthenticate, response.status)) }
        return response.data
    }

    /// Sends a command; that the reader cannot carry it is a refusal.
    private func send(_ command: CommandAPDU) throws(any Error) -> ResponseAPDU {
        do throws(ISO7816Error) {
            return try session.transmit(command)
        } catch .transport(.frameTooLong(let length, let limit)) {
            throw Failure.refused(.transport(.frameTooLong(length: length, limit: limit)))
        } catch .transport(.answerTooLong) {
            throw Failure.refused(.transport(.answerTooLong))
        } catch {
            throw error
        }
    }

    /// The objects of 7C, which is all that an answer has.
    private static func objects(_ data: [UInt8]) -> BERTLVList? {
        guard let outer = try? BERHeader(data), outer.tag == 0x7C, outer.totalLength == data.count else { return nil }
        let list = BERTLVList(tolerant: data.dropFirst(outer.size))
        return list.fault == nil ? list : nil
    }

    private func object(_ tag: BERTag, _ data: [UInt8]) throws(SecureMessagingError) -> [UInt8] {
        guard let value = Self.objects(data)?[tag]?.value, !value.isEmpty else { throw .malformed(.objects) }
        return value
    }
}

/// The pseudorandom bytes of the integrated mapping (ICAO Doc 9303-11 §4.4.3.3.2; BSI TR-03110-3 §A.3.4.3).
package enum IntegratedMapping {
    /// The length of the chip's nonce in bytes.
    package static func nonceLength(_ cipher: ChipCipher) -> Int { cipher.keyLength > 16 ? 32 : 16 }

    /// R(s, t), at least eight bytes longer than the prime.
    ///
    /// - Parameters:
    ///   - nonce: s, the chip's.
    ///   - own: t, the terminal's, as long as a key.
    ///   - primeWidth: the length of the prime in bytes.
    package static func bytes(
        _ nonce: [UInt8], _ own: [UInt8], _ cipher: ChipCipher, primeWidth: Int
    ) throws(CryptoError) -> [UInt8] {
        let constants = nonce.count == 32 ? long : short
        func key(_ bytes: [UInt8]) throws(CryptoError) -> SessionCipher {
            try SessionCipher(
                cipher == .tripleDES ? .tripleDES : .aes, key: SecretBytes(bytes.prefix(cipher.keyLength)))
        }
        var state = try key(own).encrypt(nonce)
        var found: [UInt8] = []
        while found.count < primeWidth + 8 {
            let cipher = try key(state)
            found += try cipher.encrypt(constants.1)
            state = try cipher.encrypt(constants.0)
        }
        return found
    }

    private static let short: ([UInt8], [UInt8]) = (
        [0xA6, 0x68, 0x89, 0x2A, 0x7C, 0x41, 0xE3, 0xCA, 0x73, 0x9F, 0x40, 0xB0, 0x57, 0xD8, 0x59, 0x04],
        [0xA4, 0xE1, 0x36, 0xAC, 0x72, 0x5F, 0x73, 0x8B, 0x01, 0xC1, 0xF6, 0x02, 0x17, 0xC1, 0x88, 0xAD]
    )
    private static let long: ([UInt8], [UInt8]) = (
        [
            0xD4, 0x63, 0xD6, 0x52, 0x34, 0x12, 0x4E, 0xF7, 0x89, 0x70, 0x54, 0x98, 0x6D, 0xCA, 0x0A, 0x17,
            0x4E, 0x28, 0xDF, 0x75, 0x8C, 0xBA, 0xA0, 0x3F, 0x24, 0x06, 0x16, 0x41, 0x4D, 0x5A, 0x16, 0x76,
        ],
        [
            0x54, 0xBD, 0x72, 0x55, 0xF0, 0xAA, 0xF8, 0x31, 0xBE, 0xC3, 0x42, 0x3F, 0xCF, 0x39, 0xD6, 0x9B,
            0x6C, 0xBF, 0x06, 0x66, 0x77, 0xD0, 0xFA, 0xAE, 0x5A, 0xAD, 0xD9, 0x9D, 0xF8, 0xE5, 0x35, 0x17,
        ]
    )
}
