// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@testable import Recordings

@Suite("The course of kazasu contribute")
struct CourseTests {
    static let cards = [
        "Fixtures/cards/suica-p1/card.json", "Fixtures/cards/edy/card.json", "Fixtures/cards/octopus/card.json",
        "Fixtures/cards/felica-lite-s/card.json", "Fixtures/virtual/ntag213.json", "Fixtures/virtual/type4.json",
        "Fixtures/virtual/type4-b.json", "Fixtures/virtual/classic-1k.json", "Fixtures/virtual/phone.json",
    ]

    @Test("A recording is masked, passes the check and plays to the same end", arguments: cards)
    func plays(card: String) throws {
        let made = try Made(card)
        #expect(made.ending == .complete)
        let check = RecordingCheck(made.bytes, name: made.name)
        #expect(check.faults == [])
        let transcript = try Transcript(parsing: made.bytes).playing(Transcript.recordingCommand)
        let again = Made(ReplayReader(transcript))
        #expect(again.ending == .complete)
        #expect(again.outcomes == made.outcomes)
    }
}
