// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import TestSupport
import Testing

@Suite("Messages of decoding errors")
struct DecodingErrorTests {
    private enum Kind: CaseIterable { case noSuchService, notRead, keyRequired, refused, lost, noBalance, otherLayout }

    @Test("Every reason is described after the card's name")
    func reasons() {
        let reasons: [CardDecodingError.Reason] = [
            .noSuchService, .notRead, .keyRequired, .refused, .lost, .noBalance, .otherLayout,
        ]
        let errors = reasons.map { reason in
            CardDecodingError(
                kind: .edy, field: "balance", system: .commonArea, service: ServiceCode(rawValue: 0x1317), block: 0,
                offset: 0, reason: reason)
        }
        checkSentences(errors) { error -> Kind in
            switch error.reason {
            case .noSuchService: .noSuchService
            case .notRead: .notRead
            case .keyRequired: .keyRequired
            case .refused: .refused
            case .lost: .lost
            case .noBalance: .noBalance
            case .otherLayout: .otherLayout
            }
        }
        #expect(errors[1].description == "Rakuten Edy: block 0 of service FE00/1317 was not read")
    }
}
