// SPDX-License-Identifier: Apache-2.0

import CardCrypto
import CardModel
import CardReading
import FeliCa
import ISO7816
import ReaderCore
import TestSupport
import Testing

@Suite("Messages of reading errors")
struct ReadingErrorTests {
    private enum Kind: CaseIterable { case cardLost, radio, badAnswer, cardSilent, reader, cancelled }

    @Test("Every reading error describes itself")
    func reading() {
        let errors: [ReadingError] = [
            .cardLost, .radio(.corrupted(status: 2)), .badAnswer(.malformed(.polling, .empty)),
            .badAnswer(.invalidArgument(.packetTooLong(300))), .cardSilent, .reader(.readerTimeout),
            .cancelled,
        ]
        checkSentences(errors) { error -> Kind in
            switch error {
            case .cardLost: .cardLost
            case .radio: .radio
            case .badAnswer: .badAnswer
            case .cardSilent: .cardSilent
            case .reader: .reader
            case .cancelled: .cancelled
            }
        }
    }

    private enum FileCard: CaseIterable {
        case otherCard, pinSettingUnreadable, card, pin, secure, unknownType, unsupported, wrongPassportKey,
            lastTry, paceRequired, noPACE
    }

    @Test("Every error of a card of files describes itself")
    func files() {
        let reference = PINReference(LocalizedText("PIN 1", "暗証番号 1"), p2: 0x81, form: .digits(4))
        let errors: [FileCardReadingError] = [
            .otherCard, .pinSettingUnreadable(nil), .pinSettingUnreadable(0x6A82), .card(.otherCard),
            .pin(.locked(reference)), .secure(.wrongNumber), .secure(.malformed(.padding)),
            .secure(.crypto(.libraryMissing)),
            .unknownType("09"), .unsupported(.specified), .wrongPassportKey(nil),
            .wrongPassportKey(.count(2)), .wrongPassportKey(.locked), .lastTry, .paceRequired, .noPACE,
        ]
        checkSentences(errors) { error -> FileCard in
            switch error {
            case .otherCard: .otherCard
            case .pinSettingUnreadable: .pinSettingUnreadable
            case .card: .card
            case .pin: .pin
            case .secure: .secure
            case .unknownType: .unknownType
            case .unsupported: .unsupported
            case .wrongPassportKey: .wrongPassportKey
            case .lastTry: .lastTry
            case .paceRequired: .paceRequired
            case .noPACE: .noPACE
            }
        }
    }

    private enum Lite: CaseIterable {
        case reading, refused, notGenuine, notLiteS, factoryKey, locked, writesUsedUp, readerTooSmall, otherCard,
            changed
        case keptPower, unstable, otherKey
    }

    @Test("Every error of a FeliCa Lite describes itself")
    func lite() {
        let errors: [LiteError] = [
            .reading(.cardLost), .refused(block: 0x88, StatusFlags(0x01, 0xA5)), .notGenuine, .notLiteS, .factoryKey,
            .locked, .writesUsedUp, .readerTooSmall(longest: 29, needed: 45), .otherCard, .changed(block: 5),
            .keptPower, .unstable, .otherKey,
        ]
        checkSentences(errors) { error -> Lite in
            switch error {
            case .reading: .reading
            case .refused: .refused
            case .notGenuine: .notGenuine
            case .notLiteS: .notLiteS
            case .factoryKey: .factoryKey
            case .locked: .locked
            case .writesUsedUp: .writesUsedUp
            case .readerTooSmall: .readerTooSmall
            case .otherCard: .otherCard
            case .changed: .changed
            case .keptPower: .keptPower
            case .unstable: .unstable
            case .otherKey: .otherKey
            }
        }
        #expect(errors[1].message.english == "the card refused block 88 (MC): status 01A5 (access refused)")
        #expect(errors[9].message.english == "block 05 does not contain what was written to it")
    }

    private enum Change: CaseIterable {
        case id, serviceCode, keyVersion, key, block, ndef, readOnly, authenticateToRead, authenticateToWrite,
            macToWrite
        case lock
    }

    @Test("Every change of an issuance describes itself")
    func changes() {
        let changes: [LiteChange] = [
            .id(.zero), .serviceCode(1), .keyVersion(from: 0, to: 1), .key, .block(5), .ndef(true), .ndef(false),
            .readOnly([0]), .readOnly([0, 5]), .authenticateToRead([1]), .authenticateToWrite([2]), .macToWrite([3]),
            .lock(isKeyChangeable: true), .lock(isKeyChangeable: false),
        ]
        checkSentences(changes) { change -> Change in
            switch change {
            case .id: .id
            case .serviceCode: .serviceCode
            case .keyVersion: .keyVersion
            case .key: .key
            case .block: .block
            case .ndef: .ndef
            case .readOnly: .readOnly
            case .authenticateToRead: .authenticateToRead
            case .authenticateToWrite: .authenticateToWrite
            case .macToWrite: .macToWrite
            case .lock: .lock
            }
        }
    }

    @Test("A refusal names what was refused")
    func refusals() {
        let service = LocalizedText("service 090F", "サービス 090F")
        #expect(RefusalReason.silence.message(service).english == "the card does not answer requests for service 090F")
        #expect(
            RefusalReason.flags(.init(0xFF, 0xA6)).message(service).english
                == "the card refused service 090F: status FFA6 (no such area or service)")
    }
}
