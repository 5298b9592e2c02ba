// SPDX-License-Identifier: Apache-2.0

import CardCrypto
import CardModel
import FeliCa
import ISO7816
import NDEF
import NFCForumTags
import ReaderCore
import TestSupport
import Testing

@Suite("Messages of tag errors")
struct TagErrorTests {
    private enum Kind: CaseIterable {
        case tagLost, transport, refused, felica, iso7816, badAnswer, noNDEF, notWritable, tooLong, notAMessage
        case takesNoKey, keyRefused, notVerified, cancelled, notType2, password, key, crypto
    }

    @Test("Every case describes itself")
    func cases() {
        let errors: [TagError] = [
            .tagLost, .transport(.readerTimeout), .refused(page: 4, nak: 0), .felica(.status(StatusFlags(0xFF, 0xA5))),
            .felica(.transport(.noAnswer)), .iso7816(.selectionLost), .badAnswer, .noNDEF(.notFormatted),
            .notWritable(.readOnly), .notWritable(.locked(page: 0x2B)), .notWritable(.passwordProtected(page: 4)),
            .tooLong(length: 900, capacity: 500), .notAMessage(NDEFError(.noRecord)), .takesNoKey, .keyRefused,
            .notVerified, .cancelled, .notType2, .notWritable(.secret(page: 0xE5)), .notWritable(.permanent(page: 2)),
            .password(.notSupported), .password(.lastTry(limit: 3)), .password(.lastTry(limit: nil)),
            .password(.failedBefore), .password(.wrong), .password(.locked), .password(.otherAcknowledgement),
            .password(.interrupted(.noAnswer)), .crypto(.libraryMissing), .key(.lastTry(limit: 3)),
            .key(.lastTry(limit: nil)), .key(.manyFailures(3)), .key(.failedBefore), .key(.noSuchKey(4)),
            .key(.otherLength(bytes: 24)),
            .key(.delayed), .key(.locked), .key(.interrupted(.noAnswer)), .key(.writingUnsupported),
        ]
        checkSentences(errors) { error -> Kind in
            switch error {
            case .tagLost: .tagLost
            case .transport: .transport
            case .refused: .refused
            case .felica: .felica
            case .iso7816: .iso7816
            case .badAnswer: .badAnswer
            case .noNDEF: .noNDEF
            case .notWritable(let reason):
                switch reason {
                case .readOnly, .locked, .passwordProtected, .secret, .permanent: .notWritable
                }
            case .tooLong: .tooLong
            case .notAMessage: .notAMessage
            case .takesNoKey: .takesNoKey
            case .keyRefused: .keyRefused
            case .password(let reason):
                switch reason {
                case .notSupported, .lastTry, .failedBefore, .wrong, .locked, .otherAcknowledgement, .interrupted:
                    .password
                }
            case .crypto: .crypto
            case .key(let reason):
                switch reason {
                case .lastTry, .manyFailures, .failedBefore, .noSuchKey, .otherLength, .delayed, .locked, .interrupted,
                    .writingUnsupported:
                    .key
                }
            case .notVerified: .notVerified
            case .cancelled: .cancelled
            case .notType2: .notType2
            }
        }
        #expect(errors[3].description == "the card refused the NDEF service: status FFA5 (access refused)")
        #expect(errors[9].description == "nothing was written: page 2B is locked")
    }
}
