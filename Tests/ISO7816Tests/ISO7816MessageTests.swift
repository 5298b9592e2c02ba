// SPDX-License-Identifier: Apache-2.0

import CardModel
import ISO7816
import ReaderCore
import TestSupport
import Testing

@Suite("Messages of ISO 7816 errors")
struct ISO7816MessageTests {
    private enum Kind: CaseIterable {
        case transport, malformed, status, invalidCommand, guarded, selectionLost, otherCard
    }

    @Test("Every case describes itself")
    func cases() {
        let errors: [ISO7816Error] =
            [
                ISO7816Error.Reason.tooShort(length: 1), .endlessResponse, .dataLength(expected: 2, received: 1),
                .notADataObject,
            ]
            .map { .malformed(.select, $0) } + [
                .transport(.readerTimeout), .status(.select, 0x6A82), .status(0x5A, 0x1234),
                .invalidCommand(.dataTooLong(300)), .guarded(.verify), .selectionLost, .otherCard,
            ]
        checkSentences(errors) { error -> Kind in
            switch error {
            case .transport: .transport
            case .malformed: .malformed
            case .status: .status
            case .invalidCommand: .invalidCommand
            case .guarded: .guarded
            case .selectionLost: .selectionLost
            case .otherCard: .otherCard
            }
        }
        #expect(errors[6].description == "the card refused INS 5A: 1234")
        #expect(
            errors[5].message(about: LocalizedText("the application", "アプリ")).english.contains(
                "the application: 6A82 ("))
    }

    private enum Argument: CaseIterable {
        case tooShort, inconsistentLength, dataTooLong, expectedLength, noChaining, offset, count
    }

    @Test("Every invalid APDU is explained")
    func apdus() {
        let errors: [APDUError] = [
            .tooShort(length: 3), .inconsistentLength(length: 9), .dataTooLong(70_000), .expectedLength(-1),
            .noChaining(ClassByte(rawValue: 0xFF)), .offset(-1), .count(0),
        ]
        checkSentences(errors) { error -> Argument in
            switch error {
            case .tooShort: .tooShort
            case .inconsistentLength: .inconsistentLength
            case .dataTooLong: .dataTooLong
            case .expectedLength: .expectedLength
            case .noChaining: .noChaining
            case .offset: .offset
            case .count: .count
            }
        }
    }

    private enum PINCase: CaseIterable {
        case form, alreadySent, earlierFailure, locked, lastTry, triesUnreadable, notVerifiable, wrong, refused
        case interrupted
    }

    @Test("Every fate of a PIN is described, with its name and never with a digit of it")
    func pins() {
        func pin(_ form: PINForm) -> PINReference {
            PINReference(LocalizedText("PIN 1", "暗証番号 1"), p2: 0x81, form: form)
        }
        let forms: [PINForm] = [.digits(4), .capitalsAndDigits(6...16), .printable(1...8), .exactly([0x2A])]
        let (one, tries) = (pin(.digits(4)), [TriesLeft.count(1), .count(2), .locked, .notNeeded, .unknown(0x6300)])
        let afterwards: [TriesLeft?] = [nil, .locked, .count(1), .count(2), .refused(0x6A88)]
        let errors: [PINGuardError] =
            forms.map { .form(pin($0)) } + tries.map { .wrong(one, $0) }
            + afterwards.map { .interrupted(one, .transport(.noAnswer), before: .count(2), after: $0) } + [
                .alreadySent(one), .earlierFailure(one), .locked(one), .lastTry(one, .count(1)),
                .triesUnreadable(one, .transport(.noAnswer)), .notVerifiable(one, 0x6A88),
                .refused(one, 0x6985, nil), .refused(one, 0x6985, .count(2)),
            ]
        checkSentences(errors) { error -> PINCase in
            switch error {
            case .form: .form
            case .alreadySent: .alreadySent
            case .earlierFailure: .earlierFailure
            case .locked: .locked
            case .lastTry: .lastTry
            case .triesUnreadable: .triesUnreadable
            case .notVerifiable: .notVerifiable
            case .wrong: .wrong
            case .refused: .refused
            case .interrupted: .interrupted
            }
        }
        #expect(errors.allSatisfy { $0.description.contains("PIN 1") && $0.message.japanese.contains("暗証番号 1") })
        #expect(Set(errors.map(\.description)).count == errors.count)
    }
}
