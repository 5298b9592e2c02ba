// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ReaderCore
import TestSupport
import Testing

/// A PIN never reaches a transcript.
struct SecretMaskTests {
    /// Takes whatever comes; the card that it has is given.
    private final class AnyReader: Reader {
        let information = ReaderInformation(id: "any", name: "Any")
        var picc: PICC?
        var answers: [[UInt8]] = []
        private(set) var got: [[UInt8]] = []

        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? { picc }

        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            got.append(frame)
            return answers.isEmpty ? [0x90, 0x00] : answers.removeFirst()
        }

        func close() {}
    }

    private static let typeB = PICC.typeB(TypeBTarget())
    private static let isoDEP = PICC.typeA(TypeATarget(uid: [1, 2, 3, 4], isISODEP: true))
    private static let tag = PICC.typeA(TypeATarget(uid: [1, 2, 3, 4], isISODEP: false))
    private static let felica = PICC.felica(
        FeliCaTarget(idm: IDm(rawValue: 1), pmm: PMm(rawValue: 2), bitRate: .kbps212))

    private static let (idm, key) = ("0101010101010101", "a1a2a3a4a5a6a7a8a9aaabacadaeafb0")
    private static let zeros = String(repeating: "00", count: 16)

    /// A card, frames to it, and the same frames in the transcript.
    static let cases: [(picc: PICC?, sent: [String], written: [String])] = [
        (typeB, ["002000810431323334"], ["002000810000000000"]),
        (typeB, ["002000810000043132333400"], ["002000810000000000000000"]),
        (typeB, ["00240081083132333434333231"], ["00240081000000000000000000"]),
        (typeB, ["002C00810431323334"], ["002c00810000000000"]),
        (typeB, ["00C2000009002000810431323334"], ["00c2000000000000000000000000"]),
        (typeB, ["10200081023132", "002000810233 34"], ["10200081000000", "00200081000000"]),
        (isoDEP, ["8020008104AABBCCDD"], ["802000810000000000"]),
        (nil, ["002000810431323334"], ["002000810000000000"]),
        // The shortest that has data is one byte longer than the longest that has none.
        (typeB, ["0020008101", "002000810131"], ["0020008101", "002000810000"]),
        (typeB, ["020020008101", "02002000810131"], ["020020008101", "02002000810000"]),
        (tag, ["1B", "1BAA"], ["1b", "1b00"]),
        // Queries of the tries, and commands without a PIN, are not masked.
        (
            typeB, ["00200081", "0020008100", "00A4040C06A00000023101"],
            ["00200081", "0020008100", "00a4040c06a00000023101"]
        ),
        (typeB, ["00B0810010"], ["00b0810010"]),
        // In blocks: plain, with CID, with NAD, chained.
        (typeB, ["02002000810431323334"], ["02002000810000000000"]),
        (typeB, ["0B01002000810431323334"], ["0b01002000810000000000"]),
        (typeB, ["0600002000810431323334"], ["0600002000810000000000"]),
        (
            typeB, ["12002000810C313233", "A3", "13343536", "A2", "02373839", "0300B0810010"],
            ["120020008100000000", "a3", "13000000", "a2", "02000000", "0300b0810010"]
        ),
        (typeB, ["1200D60000FF313233", "03343536"], ["1200d60000ff313233", "03343536"]),
        // PWD_AUTH of a Type 2 Tag; its other commands stay.
        (tag, ["1BAABBCCDD", "3004", "A204AABBCCDD"], ["1b00000000", "3004", "a204aabbccdd"]),
        // Set Parameter of a FeliCa card has the code of VERIFY.
        (felica, ["10200101010101010101000000000000"], ["10200101010101010101000000000000"]),
        // The key of a FeliCa Lite, with either form of its number, alone and with MAC_A; other blocks stay, and so does
        // reading it.
        (
            felica,
            [
                "2008\(idm)0109000180870102030405060708090A0B0C0D0E0F10", "2108\(idm)010900010087000102030405060708",
                "3208\(idm)0109000280878091\(key)\(key)", "2008\(idm)010900018005\(key)", "1006\(idm)010B00018087",
                "2108\(idm)0109000100870101020304", "0F08\(idm)01090002808755",
            ],
            [
                "2008\(idm)010900018087\(zeros)", "2108\(idm)010900010087000000000000000000",
                "3208\(idm)0109000280878091\(zeros)\(zeros)", "2008\(idm)010900018005\(key)",
                "1006\(idm)010b00018087", "2108\(idm)0109000100870101020304", "0F08\(idm)01090002808700",
            ]
        ),
    ]

    @Test(arguments: cases)
    func masks(_ row: (picc: PICC?, sent: [String], written: [String])) throws {
        let card = AnyReader()
        card.picc = row.picc
        var lines: [String] = []
        let reader = RecordingReader(card) { lines.append($0) }
        if row.picc != nil { _ = try reader.activate(.typeB()) }
        let frames = try row.sent.map { try Hex.decode($0) }
        for frame in frames { _ = try reader.transceive(frame, timeout: .zero) }
        #expect(card.got == frames, "the card gets it all")
        let transcript = try Transcript(parsing: Array(lines.joined(separator: "\n").utf8))
        let written = transcript.entries.compactMap { entry -> String? in
            guard case .transceive(let frame, _, _) = entry.event else { return nil }
            #expect((entry.masked != nil) == !frames.contains(frame), "what is masked says so")
            return Hex.encode(frame)
        }
        #expect(written == row.written.map { $0.lowercased() })
    }

    /// A chain ends with the card.
    @Test func newCardStartsOver() throws {
        let card = AnyReader()
        card.picc = SecretMaskTests.typeB
        var lines: [String] = []
        let reader = RecordingReader(card) { lines.append($0) }
        _ = try reader.activate(.typeB())
        _ = try reader.transceive(Hex.decode("12002000810C313233"), timeout: .zero)
        _ = try reader.activate(.typeB())
        _ = try reader.transceive(Hex.decode("0300B0810010"), timeout: .zero)
        #expect(lines.last?.contains(#""tx":"0300b0810010""#) == true)
        #expect(!lines.joined().contains("313233"))
    }

    private static let select = "00A4040C0AD3921000310001010408"

    /// Frames, the answers to them, and the same answers in the transcript.
    static let answers: [(sent: [String], got: [String], written: [String])] = [
        // The digest of a personal number, and what follows it; the items beside it stay.
        (
            [select, "00A4020C020002", "00B0000010", "00A4020C020003", "00B0000010", "00B0001010", "00C0000010"],
            ["9000", "9000", "FF2001029000", "9000", "FF3001029000", "03046282", "0506079000"],
            ["9000", "9000", "ff2001029000", "9000", "000000009000", "00006282", "0000009000"]
        ),
        // The number; by short identifiers; by the odd instruction.
        ([select, "00A4020C020001", "00B0000010"], ["9000", "9000", "FF109000"], ["9000", "9000", "00009000"]),
        ([select, "00B0830010", "00B0820010"], ["9000", "FF309000", "FF209000"], ["9000", "00009000", "ff209000"]),
        ([select, "00B10003045402000010"], ["9000", "5302FF309000"], ["9000", "000000009000"]),
        // A part of the name selects it; another application has other files.
        (["00A4040C05D392100031", "00B0830010"], ["9000", "FF309000"], ["9000", "00009000"]),
        (
            [select, "00A4040C0AD3921000310001010402", "00B0830010"], ["9000", "9000", "FF309000"],
            ["9000", "9000", "ff309000"]
        ),
        // In blocks, of which an answer may have several.
        (
            ["02" + select, "0300A4020C020003", "0200B0000010", "A3", "A2", "0300A4020C020002", "0200B0000010"],
            ["029000", "039000", "12FF3001", "130203", "02049000", "039000", "0201029000"],
            ["029000", "039000", "12000000", "130000", "02009000", "039000", "0201029000"]
        ),
    ]

    /// From the digest of a personal number, the number is found by trying all.
    @Test(arguments: answers)
    func masksAnswers(_ row: (sent: [String], got: [String], written: [String])) throws {
        let card = AnyReader()
        card.picc = Self.typeB
        card.answers = try row.got.map { try Hex.decode($0) }
        var lines: [String] = []
        let reader = RecordingReader(card) { lines.append($0) }
        _ = try reader.activate(.typeB())
        for (frame, answer) in zip(row.sent, row.got) {
            #expect(try reader.transceive(Hex.decode(frame), timeout: .zero) == Hex.decode(answer))
        }
        let transcript = try Transcript(parsing: Array(lines.joined(separator: "\n").utf8))
        let written = transcript.entries.compactMap { entry -> String? in
            guard case .transceive(_, _, .success(let answer)) = entry.event else { return nil }
            return Hex.encode(answer)
        }
        #expect(written == row.written)
    }
}
