// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import NDEF
import TestSupport
import Testing

@Suite("NDEF records")
struct RecordTests {
    /// A payload that is not what its type says.
    static let wrong: [(type: String, payload: String, reason: NDEFError.Reason, offset: Int)] = [
        ("T", "", .textWithoutStatus, 0), ("T", "00", .noLanguage, 0), ("T", "0061", .noLanguage, 0),
        ("T", "03656E", .languageTooLong, 0), ("T", "0165FF", .notText, 2),
        ("T", "81650048 00", .notText, 2), ("T", "8165D800", .notText, 2), ("T", "012061", .notText, 1),
        ("U", "", .noURIPrefix, 0), ("U", "246E66637079", .undefinedURIPrefix, 0),
        ("U", "FF", .undefinedURIPrefix, 0), ("U", "00FF", .notAURI, 1), ("U", "006120", .notAURI, 1),
        ("U", "00610A", .notAURI, 1), ("Sp", "", .noRecord, 0), ("Sp", "D101085402656E6E66637079", .posterURICount, 0),
        ("Sp", "910101550051010155 00", .posterURICount, 0), ("Sp", "D10200 5370", .nestedPoster, 0),
        ("Sp", "9101015500 510303616374 000000", .posterFieldLength, 0),
        ("Sp", "9101015500 510301616374 03", .undefinedAction, 0),
        ("Sp", "9101015500 510103 73 000001", .posterFieldLength, 0),
        ("Sp", "9101015500 510101 74 FF", .notText, 0), ("Sp", "C101FFFFFFFF5500", .lengthBeyondEnd, 0),
    ]

    @Test("Refused with the reason", arguments: wrong)
    func refused(_ row: (type: String, payload: String, reason: NDEFError.Reason, offset: Int)) throws {
        let record = NDEFRecord(format: .wellKnown, type: row.type, payload: try Hex.decode(row.payload))
        #expect(throws: NDEFError(row.reason, offset: row.offset)) { try record.content() }
        guard row.reason != .undefinedURIPrefix else { return }
        #expect(try JSONCursor(record.json).required("error").text() == row.reason.rawValue)
    }

    @Test("PN16: a reserved prefix code is none when that is allowed")
    func undefinedPrefix() throws {
        let record = NDEFRecord(format: .wellKnown, type: "U", payload: try Hex.decode("246E66637079"))
        guard case .uri(let uri) = try record.content(allowingUndefinedPrefix: true) else {
            Issue.record("no URI")
            return
        }
        #expect(uri.text == "nfcpy")
        #expect(!uri.hasDefinedPrefix)
        #expect(try JSONCursor(record.json).required("warning").text() == "undefinedURIPrefix")
    }

    /// Every prefix of the RTD by its code.
    static let prefixes: [(code: UInt8, text: String)] = [
        (0x00, ""), (0x01, "http://www."), (0x02, "https://www."), (0x03, "http://"), (0x04, "https://"),
        (0x05, "tel:"), (0x06, "mailto:"), (0x07, "ftp://anonymous:anonymous@"), (0x08, "ftp://ftp."),
        (0x09, "ftps://"), (0x0A, "sftp://"), (0x0B, "smb://"), (0x0C, "nfs://"), (0x0D, "ftp://"), (0x0E, "dav://"),
        (0x0F, "news:"), (0x10, "telnet://"), (0x11, "imap:"), (0x12, "rtsp://"), (0x13, "urn:"), (0x14, "pop:"),
        (0x15, "sip:"), (0x16, "sips:"), (0x17, "tftp:"), (0x18, "btspp://"), (0x19, "btl2cap://"),
        (0x1A, "btgoep://"), (0x1B, "tcpobex://"), (0x1C, "irdaobex://"), (0x1D, "file://"), (0x1E, "urn:epc:id:"),
        (0x1F, "urn:epc:tag:"), (0x20, "urn:epc:pat:"), (0x21, "urn:epc:raw:"), (0x22, "urn:epc:"),
        (0x23, "urn:nfc:"),
    ]

    @Test("All prefixes, both ways", arguments: prefixes)
    func bothWays(_ row: (code: UInt8, text: String)) throws {
        let uri = try NDEFURI(payload: [row.code, 0x7A])
        #expect(uri.text == row.text + "z")
        #expect(uri.prefixCode == row.code && uri.hasDefinedPrefix)
        #expect(try NDEFURI(row.text + "z").payload() == [row.code, 0x7A], "the longest prefix is taken")
        #expect(try NDEFURI(row.text).payload() == [row.code])
    }

    @Test func urisThatCannotBeWritten() {
        #expect(throws: NDEFError(.notAURI)) { try NDEFURI("http://a b").payload() }
        // A tag file that was filled up with zeros by hand.
        let padded: [UInt8] = [0x04] + Array("www.example.com".utf8) + [0, 0, 0]
        #expect(NDEFURI.padded(padded)?.text == "https://www.example.com")
        for other in [[], [0x04], [0x04, 0x61], [0x04, 0x00, 0x61], [0x00, 0x00, 0x00], [0xFF, 0x61, 0x00]] as [[UInt8]]
        {
            #expect(NDEFURI.padded(other) == nil)
        }
        #expect(throws: NDEFError(.notAURI)) { try NDEFURI("tel:\u{7F}").payload() }
        #expect(NDEFURI("x").hasDefinedPrefix)
    }

    @Test func textsThatCannotBeWritten() throws {
        #expect(throws: NDEFError(.noLanguage)) { try NDEFText("a", language: "").payload() }
        #expect(throws: NDEFError(.notText)) { try NDEFText("a", language: "日本").payload() }
        let long = String(repeating: "x", count: 64)
        #expect(throws: NDEFError(.languageTooLong)) { try NDEFText("a", language: long).payload() }
        #expect(try NDEFText(payload: NDEFText("", language: String(long.dropLast())).payload()).text.isEmpty)
    }

    @Test func recordsThatCannotBeWritten() {
        func fails(_ record: NDEFRecord, _ reason: NDEFError.Reason) {
            #expect(throws: NDEFError(reason)) { try NDEFMessage([record]).encoded() }
        }
        fails(NDEFRecord(format: .wellKnown), .typeMissing)
        fails(NDEFRecord(format: .unknown, type: "x"), .typeNotAllowed)
        fails(NDEFRecord(format: .empty, payload: [1]), .emptyRecordNotEmpty)
        fails(NDEFRecord(format: .empty, id: [1]), .emptyRecordNotEmpty)
        fails(NDEFRecord(format: .unchanged, payload: [1]), .chunkWithoutStart)
        fails(NDEFRecord(format: .mime, type: [UInt8](repeating: 0x61, count: 256)), .fieldTooLong)
        fails(NDEFRecord(format: .unknown, id: [UInt8](repeating: 1, count: 256)), .fieldTooLong)
        #expect(throws: NDEFError(.noRecord)) { try NDEFMessage([]).encoded() }
    }

    /// Contents of every kind, and how documents show them.
    static let documents: [(content: NDEFContent, text: String)] = [
        (.empty, #"{"kind":"empty","tnf":0,"type":"","id":null,"payload":""}"#),
        (
            .text(NDEFText("あ", language: "ja", encoding: .utf16)),
            #"{"kind":"text","text":"あ","language":"ja","encoding":"UTF-16","tnf":1,"type":"T","id":null,"#
                + #""payload":"826a61feff3042"}"#
        ),
        (
            .mime(type: "text/plain", data: [0x68, 0x69]),
            #"{"kind":"mime","text":"hi","tnf":2,"type":"text/plain","id":null,"payload":"6869"}"#
        ),
        (
            .mime(type: "image/png", data: [0xFF]),
            #"{"kind":"mime","tnf":2,"type":"image/png","id":null,"payload":"ff"}"#
        ),
        (
            .absoluteURI("http://a/", data: []),
            #"{"kind":"absoluteURI","text":"","tnf":3,"type":"http://a/","id":null,"payload":""}"#
        ),
        (
            .external(type: "android.com:pkg", data: [0x61]),
            #"{"kind":"external","tnf":4,"type":"android.com:pkg","id":null,"payload":"61"}"#
        ),
        (.wellKnown(type: "Hr", data: [0x12]), #"{"kind":"wellKnown","tnf":1,"type":"Hr","id":null,"payload":"12"}"#),
        (.unknown(data: [1, 2]), #"{"kind":"unknown","tnf":5,"type":"","id":null,"payload":"0102"}"#),
    ]

    @Test("Records in documents", arguments: documents)
    func shown(_ row: (content: NDEFContent, text: String)) throws {
        let record = try NDEFRecord(row.content)
        #expect(record.json.compactText == row.text)
        #expect(try record.content() == row.content)
        #expect(row.text.contains(#""kind":"\#(row.content.word)""#))
    }

    @Test func posterWithAll() throws {
        let icon = NDEFRecord(format: .mime, type: "image/png", payload: [1])
        let other = NDEFRecord(format: .external, type: "a:b")
        let poster = NDEFSmartPoster(
            NDEFURI("https://kazasu.example/"), titles: [NDEFText("かざす", language: "ja"), NDEFText("hold")],
            action: .save, size: 0x0102_0304, mediaType: "text/html", icons: [icon], others: [other])
        let record = try NDEFRecord(.smartPoster(poster), id: [0x31])
        let read = try record.content()
        #expect(Said(read) == Said(.smartPoster(poster)))
        let json = JSONCursor(record.json)
        #expect(try json.required("action").text() == "save")
        #expect(try json.required("size").integer() == 0x0102_0304)
        #expect(try json.required("mediaType").text() == "text/html")
        #expect(try json.required("titles").elements().count == 2)
        #expect(try json.required("icons").elements().count == 1)
        #expect(try json.required("id").text() == "31")
    }
}
