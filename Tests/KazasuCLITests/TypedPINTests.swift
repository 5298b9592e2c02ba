// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("PINs and answers that are typed on a terminal")
struct TypedPINTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(
        _ transcript: APDUTranscript, _ options: String..., typing answers: [String]
    ) throws -> ChildResult {
        try Typist.run(
            ["apdu", "-r", try transcript.write(to: folder), "00200081PIN1"] + options, typing: answers)
    }

    @Test("A PIN is not shown as it is typed")
    func secret() throws {
        let transcript = APDUTranscript("00200081:63c3", "00200081**********:9000")
        let result = try run(transcript, typing: ["PIN 1: =2525"])
        #expect(result.hasEnded(0), "\(result.output)")
        #expect(result.output == "PIN 1: \r\n9000\r\n")
        let japanese = try run(transcript, "--lang", "ja", typing: ["暗証番号1: =2525"])
        #expect(japanese.output == "暗証番号1: \r\n9000\r\n")
    }

    @Test("The last try: only yes is yes", arguments: ["yes", "はい", "y", "YES", "", "no", "yes please"])
    func lastTry(answer: String) throws {
        let isYes = answer == "yes" || answer == "はい"
        let transcript =
            isYes
            ? APDUTranscript("00200081:63c1", "00200081:63c1", "00200081**********:9000")
            : APDUTranscript("00200081:63c1")
        let result = try run(
            transcript, "--allow-last-try", typing: ["PIN 1: =2525", "go on: =\(answer)"])
        #expect(result.hasEnded(isYes ? 0 : 77), "\(result.output)")
        #expect(result.output.contains("PIN 1 has 1 try left. A wrong PIN locks it. Type yes to go on: "))
        #expect(!result.output.contains("2525"))
    }

    @Test("Without the flag nobody is asked")
    func noFlag() throws {
        let result = try run(APDUTranscript("00200081:63c1"), typing: ["PIN 1: =2525"])
        #expect(result.hasEnded(77))
        #expect(!result.output.contains("go on"))
    }

    @Test("An empty line is no PIN, and Ctrl-C ends it with the terminal as it was")
    func given() throws {
        #expect(try run(APDUTranscript(), typing: ["PIN 1: ="]).hasEnded(64))
        let interrupted = try run(APDUTranscript(), typing: ["PIN 1: =^C"])
        #expect(interrupted.hasEnded(130), "\(interrupted.output)")
    }
}
