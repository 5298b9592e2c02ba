// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@Suite("NTAG 424 DNA: what it answers without a key")
struct NTAG424Tests {
    private func reader(_ text: String? = nil) throws -> InProcessReader {
        let file = try text.map { Array($0.utf8) } ?? TestFiles.read("Fixtures/virtual/ntag424.json")
        let reader = InProcessReader(try #require(try VirtualCardFile.loadCards(file).first))
        _ = try #require(try reader.activate(.typeA()))
        return reader
    }

    private func send(_ command: String, to reader: InProcessReader) throws -> String {
        Hex.encode(try reader.transceive(Hex.decode(command), timeout: .seconds(1)), uppercase: true)
    }

    private static let select = "00A4040007D276000085010100"

    /// Commands of class 90, and their answers. The versions are those of a real tag (N4), the UID is hidden.
    static let answers: [(command: String, answer: String)] = [
        ("9060000000", "0404083000110591AF"), ("90AF000000", "0404020102110591AF"),
        ("90AF000000", "00000000000000CF5D90451046219100"), ("90AF000000", "91CA"),
        ("90F50000010200", "000300220001009100"), ("90F50000010100", "000000E02000009100"),
        ("90F50000010900", "91F0"), ("90F5000000", "917E"), ("90640000010000", "009100"), ("90640000010900", "9140"),
        ("903C0000010000", String(repeating: "00", count: 56) + "9190"), ("903C0000010100", "919E"),
        ("90AD0000070100000002000000", "00179100"), ("90AD0000070200000002000000", "919D"), ("9051000000", "91AE"),
        ("90C4000000", "911C"),
    ]

    @Test("T6: GetVersion, GetFileSettings, GetKeyVersion, Read_Sig and ReadData of what is free")
    func plain() throws {
        let reader = try reader()
        #expect(try send(Self.select, to: reader) == "9000")
        for (command, answer) in Self.answers { #expect(try send(command, to: reader) == answer, "\(command)") }
    }

    @Test("A fixed UID is in the version, and a signature is given as it is in the file")
    func fixed() throws {
        let signature = String(repeating: "ab", count: 56)
        let text = String(decoding: try TestFiles.read("Fixtures/virtual/ntag424.json"), as: UTF8.self)
            .replacing(#""uid": "random""#, with: #""uid": "04de5f1eacc040""#)
            .replacing(#""keys": ["#, with: #""signature": "\#(signature)", "keys": ["#)
        let reader = try reader(text)
        #expect(try send("9060000000", to: reader).hasSuffix("91AF"))
        #expect(try send("90AF000000", to: reader).hasSuffix("91AF"))
        #expect(try send("90AF000000", to: reader) == "04DE5F1EACC040CF5D90451046219100")
        #expect(try send("903C0000010000", to: reader) == signature.uppercased() + "9190")
    }
}
