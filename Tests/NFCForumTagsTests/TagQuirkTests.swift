// SPDX-License-Identifier: Apache-2.0

import CardModel
import ISO7816
import NDEF
import NFCForumTags
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// Tags with each oddity of `Docs/quirks.md` that a switch imitates: the message is the one on the tag.
@Suite("Tags that deviate")
struct TagQuirkTests {
    private static func reader(_ file: String, _ quirk: String) throws -> InProcessReader {
        let text = String(decoding: try TestFiles.read("Fixtures/virtual/\(file).json"), as: UTF8.self)
        let end = try #require(text.lastIndex(of: "}"))
        let card = text[..<end] + ",\"virtual\":{\"quirks\":[\(quirk.isEmpty ? "" : "\"\(quirk)\"")]}}"
        return InProcessReader(try VirtualField(cardFile: Array(card.utf8)))
    }

    static let type4 = [
        "dep-strict-le", "dep-short-le", "dep-61", "dep-wtx", "dep-wtx-power", "dep-fsc", "dep-ats1",
        "dep-no-deselect", "dep-no-nak", "dep-random-uid", "a-atqa", "a-no-halt",
    ]

    @Test("Type 4 Tags", arguments: type4)
    func readsType4(quirk: String) throws {
        func message(_ quirk: String) throws -> [UInt8] {
            let reader = try Self.reader("type4", quirk)
            let picc = try #require(try reader.activate(.typeA()))
            let session = ISO7816Session(reader: reader, picc: picc, request: .typeA(isoDEP: true))
            return try Type4Tag(session: session).readNDEF().message
        }
        let expected = try message("")
        #expect(try message(quirk) == expected)
    }

    @Test("A version of seven bytes is a damaged answer")
    func shortVersion() throws {
        let reader = try Self.reader("ntag213", "t2-short-version")
        guard case .typeA(let target)? = try reader.activate(.typeA()) else { throw TransportError.noAnswer }
        #expect(throws: TagError.self) { try Type2Tag(reader: reader, target: target).version() }
    }

    @Test("F1 in place of E1 is not formatted")
    func magicNumber() throws {
        let text =
            #"{"schema":"kazasu.card/1","type2":{"model":"ntag213","uid":"04a8d862bc2b80","pages":{"03":"f1101200"}}}"#
        let reader = InProcessReader(try VirtualField(cardFile: Array(text.utf8)))
        guard case .typeA(let target)? = try reader.activate(.typeA()) else { throw TransportError.noAnswer }
        #expect(throws: TagError.noNDEF(.notFormatted)) { try Type2Tag(reader: reader, target: target).readNDEF() }
    }

    static let type2 = [
        "t2-cc", "t2-mute", "t2-no-ff", "t2-version", "t2-sig0", "t2-no-wrap", "a-atqa", "a-no-halt",
    ]

    @Test("Type 2 Tags", arguments: type2)
    func readsType2(quirk: String) throws {
        func tag(_ quirk: String) throws -> Type2Tag {
            let reader = try Self.reader("ntag213", quirk)
            guard case .typeA(let target)? = try reader.activate(.typeA()) else { throw TransportError.noAnswer }
            return Type2Tag(reader: reader, target: target)
        }
        let expected = try tag("").readNDEF().message
        let found = try tag(quirk)
        #expect(try found.readNDEF().message == expected)
        switch quirk {
        case "t2-mute": #expect(try found.version() == nil)
        case "t2-version": #expect(try found.version()?.starts(with: [0x00, 0x34, 0x21]) == true)
        case "t2-sig0": #expect(try found.signature()?.allSatisfy { $0 == 0 } ?? true)
        default: break
        }
    }
}
