// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import Testing

/// What is known of readers, and how errors are told apart.
struct ReaderInformationTests {
    @Test(arguments: -20...300) func blocksOfEveryAnswerLength(_ length: Int) {
        let information = ReaderInformation(id: "x", name: "y", longestFeliCaAnswer: length)
        // An answer of n blocks has 13 + 16 n bytes; 15 blocks are the most that LEN allows, and one is the least.
        let fitting = (1...15).last { 13 + 16 * $0 <= length } ?? 1
        #expect(information.blocksPerRead == fitting)
    }

    @Test(arguments: [
        (Int.min, 1), (0, 1), (28, 1), (29, 1), (44, 1), (45, 2), (236, 13), (237, 14), (252, 14), (253, 15),
        (.max, 15),
    ])
    func boundaries(_ length: Int, _ blocks: Int) {
        var information = ReaderInformation(id: "x", name: "y")
        #expect(information.blocksPerRead == 15)
        #expect(information.feliCaBitRates == [.kbps212, .kbps424])
        information.longestFeliCaAnswer = length
        #expect(information.blocksPerRead == blocks)
    }

    @Test func listings() {
        let busy = ReaderListing(id: "a", name: "b", state: .unavailable(.busy, detail: .init(.text, "held")))
        #expect(busy.state == .unavailable(.busy, detail: .init(.text, "held")))
        #expect(busy.name == "b")
        #expect(ReaderListing(id: "a", state: .unknown).name == nil)
        #expect(ReaderListing(id: "a", state: .ready) != ReaderListing(id: "a", state: .unknown))
        let reasons: [UnavailableReason] = [.absent, .busy, .permission, .unsupported]
        #expect(reasons.map(\.rawValue) == ["absent", "busy", "permission", "unsupported"])
    }

    struct Kind: Sendable {
        let error: TransportError
        var transient = false
        var fault = false
    }

    static let kinds = [
        Kind(error: .noAnswer), Kind(error: .corrupted(status: 2), transient: true), Kind(error: .cardReleased),
        Kind(error: .readerTimeout, fault: true), Kind(error: .readerFailed(detail: .init(.text, "")), fault: true),
        Kind(error: .frameTooLong(length: 300, limit: 262)), Kind(error: .answerTooLong),
        Kind(error: .cardTooSlow),
        Kind(error: .readerUnavailable(reason: .absent, detail: .init(.text, "")), fault: true),
        Kind(error: .unsupported(detail: .init(.text, ""))),
        Kind(error: .cancelled), Kind(error: .outOfScript(detail: .init(.text, ""))),
    ]

    @Test(arguments: kinds) func kindsOfErrors(_ kind: Kind) {
        #expect(kind.error.isTransient == kind.transient)
        #expect(kind.error.isReaderError == kind.fault)
    }
}
