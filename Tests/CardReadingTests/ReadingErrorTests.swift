// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import FeliCa
import ISO7816
import NFCTransport
import TestSupport
import Testing

@Suite("Messages of reading errors")
struct ReadingErrorTests {
    private enum Kind: CaseIterable { case cardLost, radio, badAnswer, reader, cancelled }

    @Test("Every reading error describes itself")
    func reading() {
        let errors: [ReadingError] = [
            .cardLost, .radio(.corrupted(status: 2)), .badAnswer(.malformed(.polling, .empty)),
            .badAnswer(.invalidArgument(.packetTooLong(300))), .reader(.readerTimeout), .cancelled,
        ]
        checkSentences(errors) { error -> Kind in
            switch error {
            case .cardLost: .cardLost
            case .radio: .radio
            case .badAnswer: .badAnswer
            case .reader: .reader
            case .cancelled: .cancelled
            }
        }
    }

    private enum FileCard: CaseIterable { case otherCard, pinSettingUnreadable, card, pin }

    @Test("Every error of a card of files describes itself")
    func files() {
        let reference = PINReference(LocalizedText("PIN 1", "暗証番号 1"), p2: 0x81, form: .digits(4))
        let errors: [FileCardReadingError] = [
            .otherCard, .pinSettingUnreadable(nil), .pinSettingUnreadable(0x6A82), .card(.otherCard),
            .pin(.locked(reference)),
        ]
        checkSentences(errors) { error -> FileCard in
            switch error {
            case .otherCard: .otherCard
            case .pinSettingUnreadable: .pinSettingUnreadable
            case .card: .card
            case .pin: .pin
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
