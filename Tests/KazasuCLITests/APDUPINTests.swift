// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@Suite("kazasu apdu and the PIN guard", .waits)
struct APDUPINTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(
        _ transcript: APDUTranscript, _ arguments: String..., environment: [String: String] = ["SECRET": "2525"]
    ) throws -> ChildResult {
        let result = try Kazasu.run(
            ["apdu", "-r", try transcript.write(to: folder)] + arguments, environment: environment)
        for text in [result.output, result.errors] { #expect(!text.contains("2525") && !text.contains("32353235")) }
        return result
    }

    @Test("Tries are read, then the PIN is sent; the trace does not show it", arguments: ["env", "file", "fd"])
    func verified(source: String) throws {
        let transcript = APDUTranscript("00a4000c023f00:9000", "00200081:63c3", "00200081**********:9000")
        let reader = try transcript.write(to: folder)
        let file = try folder.write(Array("2525\r\nnot this\n".utf8), as: "pin")
        let from = ["env": "env:SECRET", "file": "file:\(file)", "fd": "fd:3"][source] ?? ""
        let result = try Kazasu.shell(
            "kazasu apdu -r '\(reader)' 00A4000C023F00 00200081PIN1 --pin1-from '\(from)' "
                + "--trace '\(folder.path)/trace' -v 3< '\(file)'",
            environment: ["SECRET": "2525"])
        #expect(result.hasEnded(0), "\(result.errors)")
        #expect(result.output == "9000\n9000\n")
        let trace = try folder.text("trace")
        #expect(trace.contains(#""tx":"002000810000000000","masked":{"from":4,"count":5}"#))
        for text in [trace, result.errors] { #expect(!text.contains("2525") && !text.contains("32353235")) }
        let again = try Kazasu.run(
            "apdu", "-r", "replay:\(folder.path)/trace", "00A4000C023F00", "00200081PIN1", "--pin1-from", "env:SECRET",
            environment: ["SECRET": "2525"])
        #expect(again.output == "9000\n9000\n", "the trace can be played")
    }

    @Test("VERIFY without data tells the tries that are left")
    func tries() throws {
        #expect(try run(APDUTranscript("00200081:63c3"), "00200081").output == "63C3\n")
        #expect(try run(APDUTranscript("00200081:63c3"), "0020008100").output == "63C3\n", "with Le")
        #expect(try run(APDUTranscript("00200081:6984"), "00200081 => 6984").output == "6984\n")
    }

    @Test(
        "PIN commands with data are never sent, and not shown",
        arguments: ["0020008104", "0024008108", "002C008108", "10200081 04", "0021008104", "0026008104", "00C2000009"])
    func guarded(header: String) throws {
        let data = String(repeating: "32353235", count: header.hasSuffix("04") ? 1 : 3)
        let bytes = header + data.prefix(header.hasSuffix("09") ? 18 : header.hasSuffix("08") ? 16 : 8)
        let result = try run(APDUTranscript(), bytes)
        result.expectError(77, "is not sent")
        let file = try folder.write(Array(bytes.utf8), as: "script")
        try run(APDUTranscript(), file).expectError(77, "is not sent")
    }

    @Test(
        "Commands for the reader itself are not sent, which could carry a PIN to the card",
        arguments: ["FF0000000BD4400100200081 0431323334", "FF50000108 950600200081 0431", "FFFB000004 00200081"])
    func readersOwn(bytes: String) throws {
        let result = try run(APDUTranscript(), bytes)
        result.expectError(77, "class FF")
        #expect(!result.errors.contains("31323334"))
    }

    static let refusals: [(exchanges: [String], options: [String], status: Int32, english: String, japanese: String)] =
        [
            (["00200081:63c1"], [], 77, "1 try is left", "残り 1 回"),
            (["00200081:63c1"], ["--allow-last-try"], 77, "1 try is left", "残り 1 回"),
            (["00200081:6300"], ["--allow-last-try"], 77, "number of tries left is unknown", "分かりません"),
            (["00200081:6984"], ["--allow-last-try"], 77, "PIN 1 is locked", "閉塞しています"),
            (["00200081:63c0"], [], 77, "PIN 1 is locked", "閉塞しています"),
            (["00200081:6a88"], [], 77, "6A88", "6A88"),
            (["00200081:noAnswer"], [], 74, "remaining tries cannot be read", "残り回数を読めない"),
            (["00200081:63c3", "00200081**********:63c2"], [], 77, "PIN 1 is wrong; 2 tries are left", "残り 2 回"),
            (["00200081:63c2", "00200081**********:6984"], [], 77, "is wrong and is now locked", "閉塞しました"),
            (
                ["00200081:63c3", "00200081**********:noAnswer", "card", "00200081:63c2"], [], 74,
                "it counted as a wrong PIN: 2 tries are left; it is not sent again", "照合の誤りとして数えられました: 残り 2 回"
            ),
            (
                ["00200081:63c3", "00200081**********:noAnswer", "card", "00200081:63c3"], [], 74,
                "no try was used: 3 tries are left", "回数は減っていません"
            ),
            (
                ["00200081:63c2", "00200081**********:noAnswer", "card", "00200081:6984"], [], 74,
                "it counted as a wrong PIN and is now locked; it is not sent again", "照合の誤りとして数えられ、閉塞しました"
            ),
            (
                ["00200081:63c3", "00200081**********:noAnswer", "card", "00200081:6300"], [], 74,
                "its effect is unknown: the number of tries left", "照合されたかどうかは不明です"
            ),
        ]

    @Test("Messages of the PIN guard", arguments: refusals)
    func refused(
        _ row: (exchanges: [String], options: [String], status: Int32, english: String, japanese: String)
    ) throws {
        var transcript = APDUTranscript()
        for exchange in row.exchanges { transcript.lines += APDUTranscript(exchange).lines.dropFirst(3) }
        let reader = try transcript.write(to: folder)
        for (language, what) in [("en", row.english), ("ja", row.japanese)] {
            let result = try Kazasu.run(
                ["apdu", "-r", reader, "00200081PIN1", "--pin1-from", "env:SECRET", "--lang", language] + row.options,
                environment: ["SECRET": "2525"])
            #expect(result.hasEnded(row.status), "\(result.errors)")
            #expect(result.errors.contains(what), "\(result.errors)")
            #expect(result.output.isEmpty)
            #expect(!result.errors.contains("2525"))
        }
    }

    @Test("A wrong form, no PIN, a file that is not there")
    func sources() throws {
        let nothing = APDUTranscript()
        try run(nothing, "00200081PIN1", "--pin1-from", "env:SECRET", environment: ["SECRET": "1"])
            .expectError(77, "nothing was sent")
        for text in ["", "\n", String(repeating: "7", count: 65)] {
            let file = try folder.write(Array(text.utf8), as: "pin")
            try run(nothing, "00200081PIN1", "--pin1-from", "file:\(file)").expectError(64, "PIN 1 cannot be read")
        }
        try run(nothing, "00200081PIN1", "--pin1-from", "file:/no/such/pin").expectError(66, "/no/such/pin")
        try run(nothing, "00200081PIN1", "--pin1-from", "fd:77").expectError(66, "descriptor 77")
        try run(nothing, "00200081PIN1", "--pin1-from", "env:NO_PIN").expectError(64, "NO_PIN is not set")
        try run(nothing, "00200082PIN2", "--pin1-from", "env:SECRET").expectError(64, "PIN 2 is needed")
    }
}
