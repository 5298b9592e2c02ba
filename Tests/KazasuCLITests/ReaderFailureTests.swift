// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

/// What people and scripts are told when a reader fails in the middle of its work.
@Suite("Failures of readers", .waits)
struct ReaderFailureTests {
    struct Case: Sendable {
        /// The members of the failed exchange in a transcript.
        let failure: String
        let status: Int32
        let reason: String
        let english: String
        let japanese: String
    }

    static let cases: [Case] = [
        Case(
            failure: #""error":"readerTimeout""#, status: 74, reason: "readerFailed",
            english: "the reader stopped answering", japanese: "リーダーが応答しなくなりました"),
        Case(
            failure: #""error":"readerFailed","detail":"tooHot""#, status: 74, reason: "readerFailed",
            english: "the reader reported an error: the reader is too hot",
            japanese: "リーダーが異常を知らせました（リーダーが過熱しています）"),
        Case(
            failure: #""error":"readerUnavailable","reason":"absent","detail":"unplugged""#, status: 74,
            reason: "readerFailed", english: "the reader was unplugged", japanese: "リーダーが抜かれました"),
        Case(
            failure: #""error":"readerUnavailable","reason":"busy","detail":"working""#,
            status: 69, reason: "busy", english: "it is busy with another program's command",
            japanese: "他のプログラムのために動作中です"),
        Case(
            failure: #""error":"frameTooLong","length":300,"limit":262"#, status: 64, reason: "frameTooLong",
            english: "a frame of 300 bytes is longer than the 262 that the reader can send",
            japanese: "300 バイトのフレームはリーダーの上限 262 を超えます"),
        Case(
            failure: #""error":"answerTooLong""#, status: 74, reason: "answerTooLong",
            english: "the card's answer is longer than the reader can pass on", japanese: "カードの応答がリーダーの上限を超えます"),
        Case(
            failure: #""error":"unsupported","detail":"raw packets""#, status: 69, reason: "unsupported",
            english: "the reader cannot do this: raw packets", japanese: "リーダーがこの機能に対応していません（"),
        Case(
            failure: #""error":"cardReleased""#, status: 74, reason: "cardLost", english: "the card left the reader",
            japanese: "カードがリーダーから離れました"),
        Case(
            failure: #""error":"corrupted","status":"02""#, status: 74, reason: "radioError",
            english: "the card's answer was corrupted", japanese: "カードの応答が壊れて届きました"),
    ]

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A FeliCa card whose first exchange fails.
    private func reader(_ failure: String) throws -> String {
        let lines = [
            #"{"schema":"kazasu.trace/1","reader":{"id":"x","name":"X"}}"#,
            #"{"t":0,"op":"activate","request":{"technology":"felica","systemCode":"FFFF","requestCode":1,"bitRate":212},"#
                + #""picc":{"technology":"felica","idm":"\#(Card.idm)","pmm":"01368b868fbecbff","requestData":"0003","bitRate":212}}"#,
            #"{"t":0,"op":"transceive","tx":"0a0c\#(Card.idm)","timeoutMs":1000,\#(failure)}"#,
        ]
        return "replay:" + (try folder.write(Array(lines.map { $0 + "\n" }.joined().utf8), as: "transcript.jsonl"))
    }

    @Test("In both languages, and as a document", arguments: cases)
    func told(_ row: Case) throws {
        let command = ["felica", "0C:IDM", "-r", try reader(row.failure)]
        try Kazasu.run(command).expectError(row.status, row.english)
        try Kazasu.run(command + ["--lang", "ja"]).expectError(row.status, row.japanese)
        let json = try Kazasu.run(command + ["--json"])
        #expect(json.hasEnded(row.status))
        #expect(try json.errorDocument().required("reason").text() == row.reason)
    }
}
