// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCiphers
internal import CardCrypto
package import CardModel
internal import ReaderCore

/// Asks a chip, in a session, to show that it has the private key of a public one.
///
/// Source: ICAO Doc 9303-11 §6.1 and §6.2; BSI TR-03110-2 §3.4.
package enum ChipProof {
    /// What a chip authentication leaves.
    package struct Agreement {
        package var answer: ChipEvidence.Static
        /// The session in which to go on.
        package var secure: SecureMessaging
        /// The exchange, if the chip answered under the new keys.
        package var record: AgreementRecord?
    }

    /// The counter of the first answer after new keys.
    private static let firstAnswer: UInt64 = 2

    /// Chip authentication: agrees on new keys with the chip's static key and returns the session under them, which proves itself by
    /// its first answer.
    ///
    /// - Parameters:
    ///   - way: the protocol.
    ///   - key: the chip's key, SubjectPublicKeyInfo.
    ///   - random: returns random bytes.
    /// - Throws: ``SecureMessagingError`` if an exchange failed.
    package static func chipAuthentication(
        in secure: SecureMessaging, _ way: SecurityInfos.ChipProtocol, _ key: [UInt8], random: (Int) -> [UInt8]
    ) throws(SecureMessagingError) -> Agreement {
        let renewed: SecureMessaging
        let privateKey: OwnKey
        func notDone(_ why: ChipEvidence.Obstacle) -> Agreement { Agreement(answer: .notDone(why), secure: secure) }
        do {
            guard let chip = try AgreementKey(der: key) else { return notDone(.algorithm) }
            var own = try chip.group.privateKey(random)
            defer { own.wipe() }
            let point = chip.group.written(try chip.group.publicKey(of: own))
            var agreed = try chip.group.agreed(own, with: chip.publicKey)
            defer { agreed.wipe() }
            guard try send(point, way, in: secure) else { return notDone(.refused) }
            privateKey = OwnKey(own)
            renewed = try SecureMessaging(authenticating: secure.session, way.cipher, secret: agreed)
        } catch CryptoError.unsupported {
            return notDone(.algorithm)
        } catch CryptoError.refused {
            return notDone(.algorithm)
        } catch SecureMessagingError.card(.transport(.frameTooLong)), SecureMessagingError.card(
            .transport(.answerTooLong))
        {
            return notDone(.reader)
        } catch {
            throw SecureMessagingError(error)
        }
        var answer = ChipEvidence.Static.failed(way)
        do throws(SecureMessagingError) {
            let response = try renewed.transmit(.select, p1: 0x02, p2: 0x0C, data: PassportFile.protocols.id.bytes)
            if !renewed.isOver {
                answer = .proved(way)
            } else if !way.isForeign(response.status.rawValue) {
                answer = .notDone(.refused)
            }
        } catch .malformed {
            // The code is not that of the agreed keys.
        } catch {
            throw error
        }
        return Agreement(
            answer: answer, secure: renewed,
            record: AgreementRecord(
                name: way.name, keyID: way.keyID, privateKey: privateKey, answer: renewed.lastAnswer,
                counter: firstAnswer))
    }

    /// Sends one's own key; whether the chip took it.
    private static func send(
        _ point: [UInt8], _ way: SecurityInfos.ChipProtocol, in secure: SecureMessaging
    ) throws(SecureMessagingError) -> Bool {
        let reference = way.keyID.map { BERTLV(0x84, $0).encoded } ?? []
        // What protects a command takes up to 40 bytes.
        let form = point.count > 200 ? APDULengthForm.extended : .short
        guard way.cipher != .tripleDES, let identifier = way.identifier else {
            return try secure.transmit(
                .manageSecurityEnvironment, p1: 0x41, p2: 0xA6, data: BERTLV(0x91, point).encoded + reference,
                lengthForm: form
            ).status == .success
        }
        let choice = try secure.transmit(
            .manageSecurityEnvironment, p1: 0x41, p2: 0xA4, data: BERTLV(0x80, identifier).encoded + reference)
        guard choice.status == .success else { return false }
        return try secure.transmit(
            .generalAuthenticate, data: BERTLV(0x7C, [BERTLV(0x80, point)]).encoded, wanted: 0, lengthForm: form
        ).status == .success
    }

    /// Active authentication: the chip's signature of a fresh challenge of eight bytes.
    ///
    /// - Parameters:
    ///   - length: of the signature in bytes, as the key says.
    ///   - random: returns random bytes.
    /// - Throws: ``SecureMessagingError`` if an exchange failed.
    package static func activeAuthentication(
        in secure: SecureMessaging, length: Int, random: (Int) -> [UInt8]
    ) throws(SecureMessagingError) -> ChipEvidence.Active {
        let challenge = random(8)
        let isLong = length > secure.longestPlain(inAnswerOf: 0x102)
        // Block, padding indicator and the other objects.
        let isCarried = length + 48 <= secure.session.limits.longestResponse
        do throws(SecureMessagingError) {
            let response = try secure.transmit(
                .internalAuthenticate, data: challenge, wanted: 0, lengthForm: isLong && isCarried ? .extended : .short)
            switch response.status {
            case .success where !response.data.isEmpty:
                return .answered(challenge: challenge, signature: response.data)
            case _ where isLong && !isCarried: return .notDone(.reader)
            default: return .notDone(.refused)
            }
        } catch .card(.transport(.answerTooLong)) {
            return .notDone(.reader)
        } catch .card(.transport(.frameTooLong)) {
            return .notDone(.reader)
        } catch {
            throw error
        }
    }
}
