// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ISO7816
import ReaderCore
import ReaderTesting
import Testing
import VirtualReader

@Suite("Whole files")
struct FileTests {
    static let sizes = [0, 1, 17, 239, 240, 241, 255, 256, 257, 880, 2005, 0x7FFF, 0x8000, 0x8001, 0x10000]

    private static func file(_ size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
    }

    private static func session(_ card: any CardChannel, longest: Int = 258) -> ISO7816Session {
        ISO7816Session(channel: card, limits: APDULimits(longestResponse: longest)) {
            () throws(TransportError) in true
        }
    }

    @Test(arguments: FileCard.Manner.allCases, sizes) func readsFilesOfEverySize(manner: FileCard.Manner, size: Int) {
        // Thousands of exchanges tell no more than hundreds.
        guard manner != .sevenBytes || size <= 2005 else { return }
        let file = FileTests.file(size)
        let card = FileCard(file, manner)
        let contents = FileTests.session(card).readFile()
        let isWhole = contents.data == file
        #expect(isWhole, "\(contents.data.count) bytes")
        let end = contents.end
        #expect(end == (size == 0x10000 ? .limit : .file))
        #expect(card.exchanges <= max(size, 12))
    }

    /// The ACR122U passes on 250 bytes and no more.
    @Test(arguments: [250, 242, 100, 20, 18, 10]) func throughNarrowReaders(longest: Int) {
        let file = FileTests.file(880)
        let card = FileCard(file, .warning, longest: longest)
        let session = FileTests.session(card, longest: longest)
        #expect(session.readFile() == FileContents(data: file, end: .file))
        #expect(session.limits.bytesPerRead + 2 <= longest)
        #expect(longest != 250 || session.limits.bytesPerRead == 0xF0)
    }

    @Test(arguments: [1, 16, 256, 879, 880]) func upToALimit(limit: Int) {
        let file = FileTests.file(880)
        let card = FileCard(file, .shortAnswer)
        #expect(
            FileTests.session(card).readFile(limit: limit) == FileContents(data: Array(file.prefix(limit)), end: .limit)
        )
        #expect(card.exchanges == (limit + 255) / 256, "nothing is asked in vain")
        #expect(FileTests.session(FileCard(file, .warning)).readFile(limit: 881).end == .file)
        #expect(FileTests.session(FileCard(file, .warning)).readFile(limit: 0) == FileContents(data: [], end: .limit))
    }

    @Test func takesLessAfterARefusalDownToOneByte() throws {
        let card = SessionTests.EndlessCard([0x67, 0x00])
        #expect(FileTests.session(card).readFile() == FileContents(data: [], end: .refused(.wrongLength)))
        #expect(card.exchanges == 10, "256, 160, 112, 64, … 1")
    }

    /// At least one byte at a time.
    @Test(arguments: [-1, 0, 1, 2]) func smallReads(_ count: Int) throws {
        let (one, two) = (FileCard([1, 2, 3], .warning), ["00D60000", "00D60001", "00D60002"])
        let size = max(1, count)
        #expect(FileTests.session(one, longest: count + 2).readFile() == FileContents(data: [1, 2, 3], end: .file))
        #expect(one.exchanges == 3 / size + 1)
        let script: [(String, String)] =
            size == 1
            ? zip(two, ["0101", "0102", "0103"]).map { ($0 + $1, "9000") }
            : [("00D60000020102", "9000"), ("00D600020103", "9000")]
        let channel = try SessionTests.channel(script)
        try FileTests.session(channel).updateBinary(offset: 0, data: [1, 2, 3], bytesPerCommand: count)
        #expect(channel.finish().isEmpty)
    }

    @Test func readsADataObjectFromItsHeader() throws {
        let channel = try SessionTests.channel([
            ("00B0000007", "30060102030405 9000"), ("00B0000008", "3006010203040506 9000"),
        ])
        #expect(try FileTests.session(channel).readDataObject().data == [0x30, 6, 1, 2, 3, 4, 5, 6])
        let short = try SessionTests.channel([("00B0000003", "300601 9000")])
        #expect(try FileTests.session(short).readDataObject(limit: 3).data == [0x30, 6, 1])
        let exact = try SessionTests.channel([("00B0000007", "30050102030405 9000")])
        #expect(try FileTests.session(exact).readDataObject().data == [0x30, 5, 1, 2, 3, 4, 5])
        #expect(channel.finish().isEmpty && short.finish().isEmpty && exact.finish().isEmpty)
    }

    @Test func keepsWhatWasRead() throws {
        let first = String(repeating: "AB", count: 256)
        for (air, end) in [
            (try ScriptedExchange("00B0010000", answer: "6982"), FileContents.End.refused(0x6982)),
            (try ScriptedExchange("00B0010000", error: .noAnswer), .failed(.transport(.noAnswer))),
            (try ScriptedExchange("00B0010000", answer: "90"), .failed(.malformed(.readBinary, .tooShort(length: 1)))),
        ] {
            let channel = ScriptedChannel([try ScriptedExchange("00B0000000", answer: first + "9000"), air])
            let contents = FileTests.session(channel).readFile()
            #expect(contents == FileContents(data: .init(repeating: 0xAB, count: 256), end: end))
        }
    }

    @Test func oneDataObject() throws {
        let certificate = BERTLV(0x30, FileTests.file(900)).encoded
        let card = FileCard(certificate + [UInt8](repeating: 0xFF, count: 600), .warning)
        #expect(try FileTests.session(card).readDataObject() == FileContents(data: certificate, end: .limit))
        #expect(card.exchanges == 5)
        let small = FileCard([0x05, 0x01, 0x01, 0xFF, 0xFF], .warning)
        #expect(try FileTests.session(small).readDataObject().data == [0x05, 0x01, 0x01])
        // The length says more than the file has.
        let cut = FileCard(Array(certificate.prefix(500)), .warning)
        #expect(
            try FileTests.session(cut).readDataObject()
                == FileContents(data: Array(certificate.prefix(500)), end: .file))
        for broken in [[], [0x00], [0x30, 0x80, 0, 0, 0, 0, 0], [0x30]] as [[UInt8]] {
            #expect(throws: ISO7816Error.malformed(.readBinary, .notADataObject)) {
                try FileTests.session(FileCard(broken, .warning)).readDataObject()
            }
        }
        // A length of 4 GB is read up to the limit only.
        let huge = FileCard([0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF] + FileTests.file(2000), .warning)
        #expect(try FileTests.session(huge).readDataObject(limit: 1000).data.count == 1000)
        #expect(throws: ISO7816Error.status(.readBinary, 0x6982)) {
            try FileTests.session(SessionTests.EndlessCard([0x69, 0x82])).readDataObject()
        }
        #expect(throws: ISO7816Error.malformed(.readBinary, .tooShort(length: 1))) {
            try FileTests.session(SessionTests.EndlessCard([0x69])).readDataObject()
        }
    }

    @Test func farReadsMustBeDataObjects() {
        for answer in [[0x84, 0x01, 0x00, 0x90, 0x00], [0x53, 0x05, 0x00, 0x90, 0x00]] as [[UInt8]] {
            #expect(throws: ISO7816Error.malformed(.readBinaryWithOffsetObject, .notADataObject)) {
                try FileTests.session(SessionTests.EndlessCard(answer)).readBinary(offset: 0x8000, count: 10)
            }
        }
    }

    @Test func startOfFarReads() throws {
        let channel = try SessionTests.channel([
            ("00B07FFF01", "AA9000"), ("00B10000045402800003", "7301AB9000"), ("00B10000045402800003", "5301CD9000"),
        ])
        let session = FileTests.session(channel)
        #expect(try session.readBinary(offset: 0x7FFF, count: 1).data == [0xAA])
        #expect(try session.readBinary(offset: 0x8000, count: 1).data == [0xAB])
        #expect(try session.readBinary(offset: 0x8000, count: 1).data == [0xCD])
        #expect(channel.finish().isEmpty)
    }

    /// What the reader passes on, how much is wanted, and Le: with its tag and length the answer must just fit.
    static let farReads: [(longest: Int, count: Int, le: String)] = [
        (258, 256, "00"), (258, 254, "00"), (258, 253, "00"), (258, 252, "FF"), (250, 256, "F8"), (250, 245, "F8"),
        (250, 244, "F7"), (258, 128, "83"), (258, 127, "81"), (258, 1, "03"),
    ]

    @Test(arguments: farReads) func farReadsAskForAllThatFits(_ row: (longest: Int, count: Int, le: String)) throws {
        let channel = ScriptedChannel([
            try ScriptedExchange("00B100000454028000" + row.le, answer: "53020102 9000")
        ])
        let answer = try FileTests.session(channel, longest: row.longest)
            .readBinary(offset: 0x8000, count: row.count)
        #expect(answer.data == [1, 2])
    }

    @Test func stopsAtTheLimitOfAnEndlessCard() {
        let card = SessionTests.EndlessCard([UInt8](repeating: 1, count: 256) + [0x90, 0x00])
        #expect(throws: Never.self) { FileTests.session(card).readFile(limit: 0x8000).data.count == 0x8000 }
        #expect(card.exchanges == 128)
    }

    @Test func writing() throws {
        let data = FileTests.file(600)
        let parts = [data[..<255], data[255..<510], data[510...]].map { Hex.encode($0) }
        let channel = ScriptedChannel([
            try ScriptedExchange("00D60002FF" + parts[0], answer: "9000"),
            try ScriptedExchange("00D60101FF" + parts[1], answer: "9000"),
            try ScriptedExchange("00D602005A" + parts[2], answer: "9000"),
            try ScriptedExchange("00D6000034" + Hex.encode(data[..<52]), answer: "9000"),
            try ScriptedExchange("00D6003408" + Hex.encode(data[52..<60]), answer: "6A84"),
        ])
        let session = FileTests.session(channel)
        try session.updateBinary(offset: 2, data: data)
        #expect(throws: ISO7816Error.status(.updateBinary, 0x6A84)) {
            try session.updateBinary(offset: 0, data: Array(data[..<60]), bytesPerCommand: 52)
        }
        #expect(throws: ISO7816Error.invalidCommand(.offset(0x8000))) {
            try session.updateBinary(offset: 0x8000, data: [1])
        }
        try session.updateBinary(offset: 0, data: [])
        #expect(channel.finish().isEmpty)
    }
}
