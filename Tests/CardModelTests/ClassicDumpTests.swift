// SPDX-License-Identifier: Apache-2.0

import CardModel
import Testing

@Suite("MIFARE Classic in a dump") struct ClassicDumpTests {
    private static let trailer: [UInt8?] = [1, 2, 3, 4, 5, 6, 0xFF, 0x07, 0x80, 0x69, 7, 8, 9, 10, 11, 12]

    private func dump(_ blocks: [Int: [UInt8?]]) -> CardDump {
        CardDump(card: .typeA(uid: [1, 2, 3, 4], bitRate: nil), classic: ClassicDump(.k1, blocks: blocks))
    }

    @Test("The document keeps what is unknown, and members of later versions")
    func document() throws {
        var half = Self.trailer
        for place in 0..<6 { half[place] = nil }
        let dump = dump([0: [UInt8](repeating: 9, count: 16), 7: half])
        let text = dump.document
        #expect(text.contains(#""size": "1K""#) && text.contains(#""1": null"#))
        #expect(text.contains(#""7": "????????????ff0780690708090a0b0c""#))
        #expect(try CardDump(parsing: Array(text.utf8)) == dump)
        let later = text.replacing(#""size": "1K""#, with: #""size": "1K", "later": [1]"#)
        let again = try CardDump(parsing: Array(later.utf8))
        #expect(again.document.contains(#""later""#) && again.classic?.blocks == dump.classic?.blocks)
        #expect(again.classic?.sectorsWithoutAccess == [0] + Array(2..<16) && again.classic?.whole(7) == nil)
    }

    static let broken = [
        (#"{"size":"3K","blocks":{}}"#, "size"), (#"{"blocks":{}}"#, "size"), (#"{"size":"1K"}"#, "blocks"),
        (#"{"size":"1K","blocks":{"64":null}}"#, "64"), (#"{"size":"1K","blocks":{"+1":null}}"#, "+1"),
        (#"{"size":"1K","blocks":{"01":null}}"#, "01"), (#"{"size":"1K","blocks":{"1":"00"}}"#, "1"),
        (#"{"size":"1K","blocks":{"1":7}}"#, "1"), (#"{"size":"1K","blocks":[]}"#, "blocks"),
        (#"{"size":"1K","blocks":{"1":"?0??????????????????????????????"}}"#, "1"),
    ]

    @Test("A faulty memory is refused with its place", arguments: broken)
    func refused(_ json: String, _ key: String) {
        let text = #"{"schema":"kazasu.dump/1","card":{"technology":"typeA"},"classic":\#(json)}"#
        let error = #expect(throws: DocumentError.self) { try CardDump(parsing: Array(text.utf8)) }
        #expect(error?.message.english.contains("classic") == true && error?.message.english.contains(key) == true)
    }

    @Test("Blocks that no card has are ignored")
    func ignored() {
        var memory = ClassicDump(.mini, blocks: [20: Self.trailer, -1: Self.trailer, 3: [1]])
        #expect(memory.blocks.isEmpty)
        memory[19] = Self.trailer
        memory[19] = ClassicDump.unknownBlock
        #expect(memory[19] == nil)
    }

    @Test("An unknown byte in one dump is not a difference; keys are not for display")
    func difference() throws {
        let data = [UInt8?](repeating: 5, count: 16)
        var (other, half) = (data, Self.trailer)
        other[3] = 6
        for place in 10..<16 { half[place] = nil }
        #expect(DumpDiff(dump([7: Self.trailer]), dump([7: half])).isEmpty)
        let diff = DumpDiff(dump([4: data, 5: data, 7: Self.trailer]), dump([4: other, 6: data, 7: half]))
        #expect(diff.classicBlocks.map(\.number) == [4, 5, 6] && diff.classicBlocks.first?.changedBytes == [3])
        #expect(!diff.isEmpty && diff.classicBlocks[1].new == nil && diff.classicBlocks[2].old == nil)
        half[0] = 0xAA
        let change = try #require(DumpDiff(dump([7: Self.trailer]), dump([7: half])).classicBlocks.first)
        #expect(change.changedBytes == [0] && change.withoutKeys.changedBytes.isEmpty)
        #expect(
            change.withoutKeys.old.map { ClassicDump.digits(of: $0, unknown: "-") }
                == "------------FF078069------------")
    }
}
