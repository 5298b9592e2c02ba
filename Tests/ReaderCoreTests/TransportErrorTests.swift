// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import TestSupport
import Testing

@Suite("Messages of transport errors")
struct TransportErrorTests {
    private enum Kind: CaseIterable {
        case noAnswer, corrupted, cardReleased, readerTimeout, readerFailed, frameTooLong, answerTooLong, cardTooSlow
        case readerUnavailable, unsupported, cancelled, outOfScript, heard
    }

    @Test("Every case describes itself")
    func cases() {
        let errors: [TransportError] =
            [
                .noAnswer, .corrupted(status: 2), .cardReleased, .readerTimeout, .readerFailed(detail: .init(.tooHot)),
                .frameTooLong(length: 300, limit: 262), .answerTooLong, .unsupported(detail: .init(.polling, "424")),
                .cardTooSlow, .heard(.damaged(.felica)), .heard(.unstarted(.typeA)), .heard(.several(.typeB)),
                .cancelled, .outOfScript(detail: .init(.transcriptEnded, "00A4")), .closed,
            ]
            + UnavailableReason.allCases.map { .readerUnavailable(reason: $0, detail: .init(.noneConnected)) }
        checkSentences(errors) { error -> Kind in
            switch error {
            case .noAnswer: .noAnswer
            case .corrupted: .corrupted
            case .cardReleased: .cardReleased
            case .readerTimeout: .readerTimeout
            case .readerFailed: .readerFailed
            case .frameTooLong: .frameTooLong
            case .answerTooLong: .answerTooLong
            case .cardTooSlow: .cardTooSlow
            case .readerUnavailable: .readerUnavailable
            case .unsupported: .unsupported
            case .cancelled: .cancelled
            case .outOfScript: .outOfScript
            case .heard: .heard
            }
        }
    }

    @Test("Every code has a row")
    func codes() {
        checkMessages(TransportError.Reason.messages)
        for code in TransportError.Reason.Code.allCases {
            checkSentence(TransportError.Reason(code, "/dev/ttyUSB0", "9600", "13", reader: "rcs380"))
        }
    }

    /// IDs, and what is missing.
    static let products = [
        ("rcs380", "no RC-S380 is connected"), ("rcs300:port=1-1.3", "no RC-S300 (port=1-1.3) is connected"),
        ("acr122_usb:003:005", "no acr122_usb:003:005 is connected"), ("", "no  is connected"),
    ]

    @Test("A missing reader is named by its product", arguments: products)
    func names(_ id: String, _ sentence: String) {
        #expect(TransportError.Reason(.notConnected, id).description == sentence)
    }

    @Test("The reader comes first, the cause last")
    func wrapped() {
        let detail = TransportError.Reason(.deviceInUse, "/dev/ttyUSB0", reader: "pn532")
        let error = TransportError.readerUnavailable(reason: .busy, detail: detail)
        #expect(error.description == "the reader is in use: pn532: another program uses /dev/ttyUSB0")
        #expect(error.message.japanese == "リーダーは使用中です（pn532: /dev/ttyUSB0 は他のプログラムが使用中です）")
    }
}
