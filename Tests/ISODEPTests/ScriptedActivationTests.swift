// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import Testing

@testable import ISODEP

/// Which frames an activation sends.
struct ScriptedActivationTests {
    private static let singleSize = ["A 52/7 > 4400", "A 9320 > 0102030404", "A 93700102030404+ > 20"]

    @Test func selectsAndRequestsTheATS() throws {
        let chip = ScriptedChip(Self.singleSize + ["A E080+ > 067577810280", "wait"])
        var pcd = PCD(chip)
        let card = try pcd.activate(.typeA())
        #expect(
            card
                == .typeA(
                    TypeATarget(
                        uid: [1, 2, 3, 4], atqa: 0x0044, sak: 0x20, ats: [0x06, 0x75, 0x77, 0x81, 0x02, 0x80],
                        isISODEP: true)))
        #expect(chip.finish() == [])
        #expect(chip.waits == [WaitingTime.guardTime(code: 1)])
        // A request often gets no answer, a card that was heard may take its time.
        #expect(chip.timeouts == [.milliseconds(10), .milliseconds(30), .milliseconds(30), .milliseconds(30)])
    }

    @Test(arguments: ["44", "440000"]) func rejectsAnATQAOfAnotherLength(_ atqa: String) {
        let chip = ScriptedChip(["A 52/7 > \(atqa)"])
        #expect(throws: TransportError.corrupted(status: 0)) { try TypeAActivation(channel: chip).request() }
    }

    @Test func skipsISODEPOnRequest() throws {
        let chip = ScriptedChip(Self.singleSize)
        var pcd = PCD(chip)
        let card = try pcd.activate(.typeA(isoDEP: false))
        #expect(card == .typeA(TypeATarget(uid: [1, 2, 3, 4], atqa: 0x0044, sak: 0x20, isISODEP: false)))
        #expect(chip.finish() == [])
    }

    @Test func namesTheFrameSizeThatTheChipTakes() throws {
        let chip = ScriptedChip(Self.singleSize + ["A E050+ > 0208"], longestRawFrame: 64)
        var pcd = PCD(chip)
        _ = try pcd.activate(.typeA())
        #expect(chip.finish() == [])
    }

    @Test func followsTheCascade() throws {
        let chip = ScriptedChip([
            "A 52/7 > 4403", "A 9320 > 88041122BF", "A 937088041122BF+ > 04", "A 9520 > 3344556644",
            "A 95703344556644+ > 00",
        ])
        var pcd = PCD(chip)
        let card = try pcd.activate(.typeA())
        #expect(
            card
                == .typeA(
                    TypeATarget(
                        uid: [0x04, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66], atqa: 0x0344, sak: 0x00, isISODEP: false)))
        #expect(chip.finish() == [])
    }

    @Test func followsTheLongestCascade() throws {
        let chip = ScriptedChip([
            "A 52/7 > 8400", "A 9320 > 88010203 88", "A 93708801020388+ > 04", "A 9520 > 88040506 8F",
            "A 9570880405068F+ > 04", "A 9720 > 0708090A0C", "A 97700708090A0C+ > 08",
        ])
        var pcd = PCD(chip)
        let card = try pcd.activate(.typeA())
        #expect(
            card == .typeA(TypeATarget(uid: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], atqa: 0x0084, sak: 0x08, isISODEP: false)))
        #expect(chip.finish() == [])
    }

    @Test func findsNothing() throws {
        let chip = ScriptedChip(["A 52/7 > -", "B 050008+ > -"])
        var pcd = PCD(chip)
        #expect(try pcd.activate(.typeA()) == nil)
        #expect(try pcd.activate(.typeB()) == nil)
        #expect(chip.finish() == [])
    }

    @Test func attachesTypeB() throws {
        let chip = ScriptedChip(["B 055008+ > 5030702A1C00000011008185", "B 1D30702A1C00080100+ > 00"])
        var pcd = PCD(chip)
        let card = try pcd.activate(.typeB(applicationFamily: 0x50))
        #expect(
            card
                == .typeB(
                    TypeBTarget(
                        pupi: [0x30, 0x70, 0x2A, 0x1C], applicationData: [0, 0, 0, 0x11],
                        protocolInfo: [0x00, 0x81, 0x85])))
        #expect(chip.finish() == [])
        #expect(chip.timeouts == [.milliseconds(10), WaitingTime.frame(code: 8) + .milliseconds(30)])
    }

    @Test func rejectsAnotherCIDInTheAnswer() {
        let answer = ["B 050008+ > 5030702A1C00000011008185", "B 1D30702A1C00080100+ > 02", "field"]
        let chip = ScriptedChip(answer + answer + answer)
        var pcd = PCD(chip)
        #expect(throws: TransportError.heard(.unstarted(.typeB))) { try pcd.activate(.typeB()) }
        #expect(chip.finish() == [])
    }

    @Test(arguments: [
        singleSize.dropLast() + ["A 93700102030404+ > 2020", "field"],
        singleSize + ["A E080+ > 0670", "field"],
    ])
    func damagedAnswersEndTheActivation(_ round: [String]) {
        let chip = ScriptedChip(round + round + round)
        var pcd = PCD(chip)
        #expect(throws: TransportError.heard(.unstarted(.typeA))) { try pcd.activate(.typeA()) }
        #expect(chip.finish() == [])
    }

    /// As of several kinds of cards at once.
    @Test func treatsADamagedATQAAsACollision() throws {
        let chip = ScriptedChip(
            ["A 52/7 > 44", "field", "A 52/7 > 440044"] + Self.singleSize.dropFirst() + ["A E080+ > 0208"])
        var pcd = PCD(chip)
        guard case .typeA(let target)? = try pcd.activate(.typeA()) else {
            Issue.record("no card")
            return
        }
        #expect(target.uid == [1, 2, 3, 4] && target.atqa == nil && target.isISODEP)
        #expect(chip.finish() == [])
    }

    @Test func damagedAnswersOfTypeBEndTheActivation() {
        let round = ["B 050008+ > 5130702A1C00000011008185", "field"]
        let chip = ScriptedChip(round + round + round)
        var pcd = PCD(chip)
        #expect(throws: TransportError.heard(.damaged(.typeB))) { try pcd.activate(.typeB()) }
        #expect(chip.finish() == [])
    }

    /// The cascade goes on only when the SAK says so, too.
    @Test func acceptsAUIDThatStartsLikeACascade() throws {
        let chip = ScriptedChip(["A 52/7 > 0400", "A 9320 > 8801020388", "A 93708801020388+ > 09"])
        var pcd = PCD(chip)
        #expect(
            try pcd.activate(.typeA())
                == .typeA(TypeATarget(uid: [0x88, 1, 2, 3], atqa: 0x0004, sak: 0x09, isISODEP: false)))
        #expect(chip.finish() == [])
    }

    @Test func rejectsAnEndlessCascade() {
        let levels = ["93", "95", "97"].flatMap { ["A \($0)20 > 8801020388", "A \($0)708801020388+ > 04"] }
        let round = ["A 52/7 > 4400"] + levels + ["field"]
        let chip = ScriptedChip(round + round + round)
        var pcd = PCD(chip)
        #expect(throws: TransportError.heard(.unstarted(.typeA))) { try pcd.activate(.typeA()) }
        #expect(chip.finish() == [])
    }

    // MARK: Chips that select cards themselves

    @Test func usesTheCardThatTheChipSelected() throws {
        let chip = ScriptedChip(
            ["A E080+ > 0208", "A B2+ > A2"], selections: [.card(uid: [1, 2, 3, 4], sak: 0x20)])
        var pcd = PCD(chip)
        #expect(try pcd.isPresent() == nil)
        #expect(
            try pcd.activate(.typeA())
                == .typeA(TypeATarget(uid: [1, 2, 3, 4], sak: 0x20, ats: [0x02, 0x08], isISODEP: true)))
        #expect(try pcd.isPresent() == true)
        #expect(chip.finish() == [])
    }

    @Test func ignoresCardsThatTheChipDidNotFind() throws {
        var pcd = PCD(ScriptedChip([], selections: [.nothing, .card(uid: [1, 2, 3, 4], sak: 0x08)]))
        #expect(try pcd.activate(.typeA()) == nil)
        #expect(
            try pcd.activate(.typeA())
                == .typeA(TypeATarget(uid: [1, 2, 3, 4], sak: 0x08, isISODEP: false)))
    }

    /// A card without ISO-DEP treats RATS as an error and must be selected again; another card would be a mistake.
    @Test(arguments: [4, 5] as [UInt8]) func requestsTheATSWithoutASAK(_ last: UInt8) throws {
        let chip = ScriptedChip(
            ["A E080+ > -"] + (last == 4 ? [] : ["field", "A E080+ > 0208"]),
            selections: [
                .card(uid: [1, 2, 3, 4], sak: nil), .card(uid: [1, 2, 3, last], sak: nil),
                .card(uid: [1, 2, 3, last], sak: nil),
            ])
        var pcd = PCD(chip)
        let card = try pcd.activate(.typeA())
        #expect(card?.isISODEP == (last == 5))
        #expect(chip.finish() == [])
    }

    /// The chip may have selected the card, which then treats the first request as an error.
    @Test func wakesACardTwiceWhenInDoubt() throws {
        let chip = ScriptedChip(
            ["A 52/7 > -"] + Self.singleSize + ["A E080+ > 0208", "A C2+ > C2", "A 52/7 > -", "A 52/7 > -"],
            selections: [.unknown, .unknown])
        var pcd = PCD(chip)
        #expect(try pcd.activate(.typeA())?.isISODEP == true)
        #expect(try pcd.activate(.typeA()) == nil)
        #expect(chip.finish() == [])
        #expect(chip.timeouts.suffix(3) == [.milliseconds(30), .milliseconds(10), .milliseconds(10)])
    }

    @Test func sendsNothingToCardsWithoutISODEP() throws {
        let chip = ScriptedChip(["B 050008+ > 5030702A1C00000011008085"])
        var pcd = PCD(chip)
        let card = try pcd.activate(.typeB())
        #expect(card?.technology == .typeB && card?.isISODEP == false)
        #expect(throws: TransportError.cardReleased) { try pcd.transceive([0x00, 0xA4], timeout: .seconds(1)) }
        #expect(chip.finish() == [])
    }

    @Test func triesAgainAfterADamagedAnswer() throws {
        let chip = ScriptedChip(
            ["A 52/7 > 4400", "A 9320 > 0102030405", "field", "A 52/7 > 4400", "A 9320 > -", "field"]
                + Self.singleSize + ["A E080+ > 0208"])
        var pcd = PCD(chip)
        #expect(try pcd.activate(.typeA())?.isISODEP == true)
        #expect(chip.finish() == [])
    }

    @Test func givesUpOnTwoCardsOfTypeB() {
        let collision = ["B 050008+ > !", "field"]
        let chip = ScriptedChip(collision + collision + collision)
        var pcd = PCD(chip)
        #expect(throws: TransportError.heard(.damaged(.typeB))) { try pcd.activate(.typeB()) }
        #expect(chip.finish() == [])
    }

    @Test func reportsACardThatStopsAnswering() {
        let leaving = ["A 52/7 > 4400", "A 9320 > -", "field"]
        let chip = ScriptedChip(leaving + leaving + leaving)
        var pcd = PCD(chip)
        #expect(throws: TransportError.heard(.unstarted(.typeA))) { try pcd.activate(.typeA()) }
        #expect(chip.finish() == [])
    }

    @Test func passesOnReaderFaults() {
        let gone = TransportError.readerUnavailable(reason: .absent, detail: .init(.text, "unplugged"))
        let chip = ScriptedChip(["A 52/7 > 4400", "A 9320 > gone"])
        var pcd = PCD(chip)
        #expect(throws: gone) { try pcd.activate(.typeA()) }
        #expect(chip.finish() == [])
    }

    @Test func endsISODEPBeforeTheNextSearch() throws {
        let chip = ScriptedChip(
            Self.singleSize + ["A E080+ > 0208", "A C2+ > C2", "A 52/7 > -"])
        var pcd = PCD(chip)
        _ = try pcd.activate(.typeA())
        #expect(try pcd.activate(.typeA()) == nil)
        #expect(chip.finish() == [])
    }

    @Test func resetsTheFieldWhenTheProtocolDoesNotEnd() throws {
        let chip = ScriptedChip(
            Self.singleSize + ["A E080+ > 0208", "A C2+ > -", "A C2+ > -", "field", "A 52/7 > -"])
        var pcd = PCD(chip)
        _ = try pcd.activate(.typeA())
        #expect(try pcd.activate(.typeA()) == nil)
        #expect(chip.finish() == [])
    }

    @Test func wakesAMemoryCardTwice() throws {
        let card = ["A 52/7 > 4400", "A 9320 > 0102030404", "A 93700102030404+ > 00"]
        let chip = ScriptedChip(card + ["A 52/7 > -"] + card)
        var pcd = PCD(chip)
        _ = try pcd.activate(.typeA())
        #expect(try pcd.activate(.typeA()) != nil)
        #expect(chip.finish() == [])
    }

    @Test func refusesFeliCa() {
        var pcd = PCD(ScriptedChip([]))
        #expect(throws: TransportError.unsupported(detail: .init(.notTypeAOrB))) {
            try pcd.activate(.felica(.any))
        }
    }
}
