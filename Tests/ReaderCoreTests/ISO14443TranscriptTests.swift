// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import TestSupport
import Testing

@Suite("Transcripts of cards of type A and B")
struct ISO14443TranscriptTests {
    private static let information = ReaderInformation(
        id: "x", name: "y", technologies: [.typeB, .typeA], longestCommandAPDU: 4096, longestResponseAPDU: 300)

    static let events: [TranscriptEntry.Event] = [
        .activate(.typeA(), .success(nil)),
        .activate(.typeA(isoDEP: false), .success(.typeA(TypeATarget(uid: [4, 1, 2, 3, 4, 5, 6], isISODEP: false)))),
        .activate(
            .typeA(),
            .success(
                .typeA(
                    TypeATarget(
                        uid: [8, 1, 2, 3], atqa: 0x0344, sak: 0x20, ats: [0x06, 0x75, 0x77, 0x81, 0x02, 0x80],
                        isISODEP: true)))),
        .activate(.typeB(applicationFamily: 0x10), .failure(.cardReleased)),
        .activate(.typeB(), .success(.typeB(TypeBTarget()))),
        .activate(
            .typeB(),
            .success(
                .typeB(
                    TypeBTarget(
                        pupi: [1, 2, 3, 4], applicationData: [0, 0, 0, 0], protocolInfo: [0xB3, 0x81, 0xA1])))),
        .transceive([0x00, 0x84, 0x00, 0x00, 0x08], timeout: .seconds(5), .success([0x6D, 0x00])),
    ]

    @Test(arguments: events) func roundTrip(_ event: TranscriptEntry.Event) throws {
        let transcript = Transcript(reader: Self.information, entries: [TranscriptEntry(time: .zero, event: event)])
        let parsed = try Transcript(parsing: Array(transcript.text.utf8))
        #expect(parsed == transcript)
    }
}
