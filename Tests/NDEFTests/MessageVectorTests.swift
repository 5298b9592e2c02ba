// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import NDEF
import Testing

/// The messages PN1–PN16 of the public suite of ndeflib.
@Suite("NDEF messages of ndeflib's suite")
struct MessageVectorTests {
    /// A message that can be read, and what its records say.
    struct Valid: CustomTestStringConvertible, Sendable {
        let name: String
        let hex: String
        let contents: [NDEFContent]
        var testDescription: String { name }
    }

    static let valid = [
        Valid(name: "PN1", hex: "D00000", contents: [.empty]),
        Valid(name: "PN2", hex: "900000 100000 500000", contents: [.empty, .empty, .empty]),
        Valid(name: "PN3", hex: "D101075402656E54455854", contents: [.text(NDEFText("TEXT"))]),
        Valid(
            name: "PN5", hex: "D1010A55036E666370792E6F7267",
            contents: [.uri(NDEFURI("http://nfcpy.org"))]),
        Valid(
            name: "PN6", hex: "91010A55036E666370792E6F7267 51010A55046E666370792E6F7267",
            contents: [.uri(NDEFURI("http://nfcpy.org")), .uri(NDEFURI("https://nfcpy.org"))]),
        Valid(name: "PN7", hex: "D102055370 D101015500", contents: [.smartPoster(NDEFSmartPoster(NDEFURI("")))]),
        Valid(
            name: "PN8", hex: "D1021A5370 91010A55036E666370792E6F7267 5101085402656E6E66637079",
            contents: [
                .smartPoster(NDEFSmartPoster(NDEFURI("http://nfcpy.org"), titles: [NDEFText("nfcpy")]))
            ]),
        Valid(
            name: "P32", hex: "D1022253 7091010E 55036E66 632D666F 72756D2E 6F726751 010C5402 656E4E46 4320466F 72756D",
            contents: [
                .smartPoster(NDEFSmartPoster(NDEFURI("http://nfc-forum.org"), titles: [NDEFText("NFC Forum")]))
            ]),
    ]

    @Test("Read, and written again as the same bytes", arguments: valid)
    func readAndWritten(_ vector: Valid) throws {
        let bytes = try Hex.decode(vector.hex)
        let message = try NDEFMessage(decoding: bytes)
        let contents = try message.records.map { try $0.content() }
        #expect(contents.map(Said.init) == vector.contents.map(Said.init))
        let made = try NDEFMessage(vector.contents.map { try NDEFRecord($0) }).encoded()
        #expect(made == bytes, "\(Hex.encode(made))")
        #expect(try message.encoded() == bytes)
    }

    @Test("PN4: UTF-16 in the order of its mark")
    func utf16() throws {
        let text = try NDEFText(payload: Hex.decode("82656E FFFE 4800 6500 6C00 6C00 6F00"))
        #expect(text == NDEFText("Hello", language: "en", encoding: .utf16))
        #expect(try NDEFText(payload: Hex.decode("82656E FEFF 0048 0065")).text == "He")
        #expect(try NDEFText(payload: Hex.decode("82656E 0048 0065")).text == "He", "big-endian without a mark")
        #expect(try text.payload() == Hex.decode("82656E FEFF 0048 0065 006C 006C 006F"))
    }

    @Test("PN9, PN10: single records that neither begin nor end a message")
    func single() throws {
        var reader = ByteReader(try Hex.decode("19010002 586964"))
        let named = try NDEFFrame(from: &reader)
        #expect(
            named
                == NDEFFrame(
                    NDEFRecord(format: .wellKnown, type: "X", id: [0x69, 0x64]), beginsMessage: false,
                    endsMessage: false))
        #expect(try named.encoded() == Hex.decode("19010002 586964"))
        reader = ByteReader(try Hex.decode("120A00 746578742F706C61696E"))
        #expect(try NDEFFrame(from: &reader).record == NDEFRecord(format: .mime, type: "text/plain"))
        #expect(reader.remaining == 0)
    }

    /// Bytes that are not a message.
    struct Invalid: CustomTestStringConvertible, Sendable {
        let hex: String
        let reason: NDEFError.Reason
        let offset: Int
        var testDescription: String { "\(reason): \(hex)" }

        init(_ hex: String, _ reason: NDEFError.Reason, at offset: Int = 0) {
            (self.hex, self.reason, self.offset) = (hex, reason, offset)
        }
    }

    static let invalid = [
        Invalid("", .noRecord), Invalid("150000 160000 560000", .noMessageBegin),
        Invalid("950000 150000 150000", .noMessageEnd, at: 9), Invalid("00", .endsWithinRecord),
        Invalid("950000 160000 160000", .chunkWithoutStart, at: 3),
        Invalid("0000", .endsWithinRecord), Invalid("000000", .endsWithinRecord),
        Invalid("00000000", .endsWithinRecord), Invalid("0000000000", .endsWithinRecord),
        Invalid("C800000000", .endsWithinRecord), Invalid("D0010000", .typeNotAllowed),
        Invalid("D10000", .typeMissing), Invalid("D5010000", .typeNotAllowed), Invalid("D70000", .reservedFormat),
        Invalid("D0000100", .emptyRecordNotEmpty), Invalid("D800000100", .emptyRecordNotEmpty),
        Invalid("D101FF5400", .lengthBeyondEnd), Invalid("C101FFFFFFFF54", .lengthBeyondEnd),
        Invalid("C1010000000154", .lengthBeyondEnd), Invalid("D901000154", .lengthBeyondEnd),
        Invalid("D00000 00", .trailingBytes, at: 3), Invalid("900000 D00000", .secondMessageBegin, at: 3),
        // Chunks: 20 says that more follows, a later one has the format 6 and neither type nor id.
        Invalid("F1010154 61", .chunkUnfinished), Invalid("B1010154 61", .chunkUnfinished, at: 5),
        Invalid("B1010154 61 51010154 62", .chunkUnfinished, at: 5), Invalid("D60000", .chunkWithoutStart),
        Invalid("B1010154 61 5E000000", .chunkWithID, at: 5), Invalid("B1010154 61 56010062", .typeNotAllowed, at: 5),
        Invalid("B1010154 61 760001 62", .chunkUnfinished, at: 5),
    ]

    @Test("PN11–PN14 and more: refused with the reason and the place", arguments: invalid)
    func refused(_ vector: Invalid) throws {
        let bytes = try Hex.decode(vector.hex)
        #expect(throws: NDEFError(vector.reason, offset: vector.offset)) { try NDEFMessage(decoding: bytes) }
    }

    @Test("Chunks become one record")
    func chunks() throws {
        let bytes = try Hex.decode(
            "B1 01 03 54 02656E 36 00 02 4865 36 00 00 16 00 02 6C6C 11 01 01 54 00 51 01 01 55 00")
        let message = try NDEFMessage(decoding: bytes)
        #expect(message.records.count == 3)
        #expect(try message.records.first?.content() == .text(NDEFText("Hell")))
        let long = try Hex.decode("B1010354 02656E") + (0..<5000).flatMap { _ in [0x36, 0, 1, 0x61] as [UInt8] }
        let whole = try NDEFMessage(decoding: long + [0x56, 0, 0])
        #expect(try whole.records.first?.content() == .text(NDEFText(String(repeating: "a", count: 5000))))
        #expect(throws: NDEFError(.chunkUnfinished, offset: long.count)) { try NDEFMessage(decoding: long) }
    }

    @Test func trailingBytesMayBeAllowed() throws {
        let message = try NDEFMessage(decoding: [0xD0, 0, 0, 0xFE, 0], allowingTrailingBytes: true)
        #expect(message == .empty)
    }

    @Test("Long payloads get four bytes of length")
    func longPayload() throws {
        for count in [0, 1, 255, 256, 65_536] {
            let data = [UInt8](repeating: 0x5A, count: count)
            let message = NDEFMessage([try NDEFRecord(.mime(type: "a/b", data: data), id: [1])])
            let bytes = try message.encoded()
            #expect(bytes.count == count + (count <= 255 ? 8 : 11))
            #expect(try NDEFMessage(decoding: bytes) == message)
        }
    }
}
