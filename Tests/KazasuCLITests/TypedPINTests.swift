// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("PINs and answers that are typed on a terminal", .waits)
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
        let transcript = APDUTranscript("00200081:63c3", "00200081:63c3", "00200081**********:9000")
        let result = try run(transcript, typing: ["tries are left): =2525"])
        #expect(result.hasEnded(0), "\(result.output)")
        #expect(result.output == "PIN 1 (4 to 16 characters, 3 tries are left): \r\n9000\r\n")
        let japanese = try run(transcript, "--lang", "ja", typing: ["残り 3 回）: =2525"])
        #expect(japanese.output == "暗証番号1（4～16 文字、残り 3 回）: \r\n9000\r\n")
    }

    @Test("The last try: only yes is yes", arguments: ["yes", "はい", "y", "YES", "", "no", "yes please"])
    func lastTry(answer: String) throws {
        let isYes = answer == "yes" || answer == "はい"
        let transcript =
            isYes
            ? APDUTranscript("00200081:63c1", "00200081:63c1", "00200081:63c1", "00200081**********:9000")
            : APDUTranscript("00200081:63c1")
        let result = try run(
            transcript, "--allow-last-try", typing: ["continue: =\(answer)"] + (isYes ? ["PIN 1 (=2525"] : []))
        #expect(result.hasEnded(isYes ? 0 : 77), "\(result.output)")
        #expect(result.output.hasPrefix("PIN 1 has 1 try left. A wrong PIN locks it. Type yes to continue: "))
        #expect(result.output.contains("PIN 1 (4") == isYes, "the question comes before the PIN")
        #expect(!result.output.contains("2525"))
    }

    /// A card that does not tell the tries may count each question as one.
    @Test("A card that does not tell the tries is asked once only")
    func untold() throws {
        let transcript = APDUTranscript("00200081:6300", "00200081**********:9000")
        let result = try run(transcript, "--allow-last-try", typing: ["continue: =yes", "PIN 1 (=2525"])
        #expect(result.hasEnded(0), "\(result.output)")
    }

    @Test("Without the flag, and where the PIN is locked, nothing is asked", arguments: ["63c1", "6300", "6984"])
    func noFlag(status: String) throws {
        let result = try run(APDUTranscript("00200081:\(status)"), typing: [])
        #expect(result.hasEnded(77))
        #expect(!result.output.contains("to continue") && !result.output.contains("PIN 1 (4"))
        #expect(result.output.contains("--allow-last-try") == (status != "6984"))
    }

    @Test("A PIN of the wrong length is asked for again, and nothing is sent before")
    func wrongLength() throws {
        let transcript = APDUTranscript("00200081:63c3", "00200081:63c3", "00200081**********:9000")
        let result = try run(
            transcript, typing: ["PIN 1 (=123", "PIN 1 must be 4 to 16 characters=", "tries are left): =2525"])
        #expect(result.hasEnded(64), "an empty line is not a PIN: \(result.output)")
        let again = try run(transcript, typing: ["PIN 1 (=123", "PIN 1 must be 4 to 16 characters=2525"])
        #expect(again.hasEnded(0), "\(again.output)")
    }

    @Test("A PIN that is too long is called so, not empty: asked for again when typed, refused from a source")
    func tooLong() throws {
        let long = String(repeating: "1", count: 65)
        let transcript = APDUTranscript("00200081:63c3", "00200081:63c3", "00200081**********:9000")
        let again = try run(transcript, typing: ["PIN 1 (=\(long)", "PIN 1 must be 4 to 16 characters=2525"])
        #expect(again.hasEnded(0), "\(again.output)")
        let file = try transcript.write(to: folder)
        for (value, words) in [(long, "longer than 64 bytes"), ("", "it is empty")] {
            let given = try Kazasu.run(
                ["apdu", "-r", file, "00200081PIN1", "--pin1-from", "env:SECRET"], environment: ["SECRET": value])
            #expect(given.end == .exited(64) && given.errors.contains(words), "\(given.errors)")
        }
    }

    @Test("Rejects an empty PIN; Ctrl-C restores the terminal")
    func given() throws {
        let transcript = APDUTranscript("00200081:63c3")
        #expect(try run(transcript, typing: ["PIN 1 (="]).hasEnded(64))
        let interrupted = try run(transcript, typing: ["PIN 1 (=^C"])
        #expect(interrupted.hasEnded(130), "\(interrupted.output)")
    }
}
