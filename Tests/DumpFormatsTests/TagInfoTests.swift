// SPDX-License-Identifier: Apache-2.0

import CardModel
import DumpFormats
import DumpFormatsXML
import Testing

/// The XML of NXP TagInfo, in the words of the scan that felica-wallet published, and what is not in that form.
@Suite struct TagInfoTests {
    private static let service = """
        <block type="text"><content>System Code 0xFE00: Common Area
        ‣ IDm: 11:14:8E:47:42:1B:34:06
        ‣ Area #0: 0x0000 - 0xFFFE
          • Service: 0x50D4 #323 Purse (Decrement)
            ◦ Protected (no access)</content></block>
        <block type="text"><content>  • Service: 0x50D7 #323 Purse (Read Only)
        </content></block>
        """
    private static let block = """
        <block><address addrwidth="4">0</address><data>8A BE 00 00 00 00 00 00 00 00 00 00 00 00 02 45</data></block>
        """

    /// A scan with this memory, each element on the line after the one before.
    private static func scan(_ memory: String) -> [UInt8] {
        Array(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <scan><version>4.24.7</version><date>2021-06-08 17:44:45</date><title>A tag</title>
            <uid nxp="false">01:14:8E:47:42:1B:34:06</uid><section><subsection title="Detailed protocol information">
            <block type="text"><content>PMm: 0x0120220427674EFF
            </content></block></subsection><subsection title="Memory content">
            \(memory)
            </subsection></section></scan>
            """.utf8)
    }

    @Test func readsTheBlocksOfTheLastService() throws {
        let read = try DumpFormatRegistry.complete.read(Self.scan(Self.service + Self.block))
        #expect(read.format == "taginfo")
        let dump = try #require(read.dumps.first)
        #expect(dump.tool == "NXP TagInfo 4.24.7" && dump.readAt == nil)
        #expect(dump.card.idm?.description == "01148e47421b3406" && dump.card.pmm?.description == "0120220427674eff")
        let system = try #require(dump.systems.first)
        #expect(dump.systems.count == 1 && system.systemCode == .commonArea)
        #expect(system.idm.description == "11148e47421b3406" && system.assumed.isEmpty)
        #expect(system.areas.map { "\($0.start)-\($0.end)" } == ["0000-FFFE"])
        #expect(system.services.map(\.code.description) == ["50D4", "50D7"])
        #expect(system.services.map(\.state) == [.keyRequired, .read])
        #expect(system.services.last?.blocks[0]?.description == "8ABE0000000000000000000000000245")
    }

    static let cases: [(memory: String, expected: DocumentError.Expectation)] = [
        (block, .init(.blockInService)),
        ("<block><data>00</data></block>", .init(.blockInService)),
        (service.replacing("#323 Purse (R", with: "#322 Purse (R"), .init(.serviceNumber)),
        (service.replacing("0x50D4", with: "0x50"), .init(.code)),
        (service + block.replacing(">0<", with: ">x<"), .init(.blockWithAddress)),
        (service + block.replacing(" 45", with: ""), .init(.bytesInHex, "16")),
        (service + block + block.replacing("45", with: "46"), .init(.uniqueBlock)),
        (service.replacing(":34:06", with: ":34"), .init(.bytesInHex, "8")),
        (
            String(repeating: "<a>", count: 40) + String(repeating: "</a>", count: 40),
            .init(.xmlDepth, "32")
        ),
    ]

    @Test(arguments: cases.indices) func namesTheLineOfAnError(_ place: Int) {
        let (memory, expected) = Self.cases[place]
        let error = #expect(throws: DocumentError.self) {
            try DumpFormatRegistry.complete.read(Self.scan(memory))
        }
        guard case .malformedLine(let line, let found)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(found == expected && line > 5)
    }

    @Test func aScanOfAnotherKindOfTagSaysSo() {
        #expect(throws: DocumentError.notImported(kind: "A tag")) {
            try DumpFormatRegistry.complete.read(Self.scan(""))
        }
    }

    /// Labels count all open blocks of the card: the history begins where the blocks before it end.
    @Test func labelsOfMetroflipNeedNotBeginAtZero() throws {
        func dump(_ name: String) throws -> [CardDump] {
            try DumpFormatRegistry.standard.read(FormatFixture(format: "metroflip", name: name).bytes).dumps
        }
        #expect(try dump("log-from-1c.txt") == dump("log.txt"))
    }

    static let sample: [(text: String, expected: DocumentError?)] = [
        ("履歴 [0]  16-01-00-02-16-6C-E3-3B-E6-21-0A-00-00-01-E3-00\n", nil),
        (
            "Edy [0]  16-01-00-02-16-6C-E3-3B-E6-21-0A-00-00-01-E3-00\nIDm=01-02\n",
            .malformedLine(line: 2, expected: .init(.bytesInHex, "8"))
        ),
        (
            "Edy [0]  20-00-00-67-18-04-23-ED-00-00-03-E8-00-00-2A-3E\n",
            .malformedLine(line: 1, expected: .init(.historyRecord))
        ),
        (
            """
            Suica 乗降履歴情報 [0]  16-01-00-02-16-6C-E3-3B-E6-21-0A-00-00-01-E3-00
            Suica 乗降履歴情報 [0]  16-01-00-02-16-6C-E3-3B-E6-21-0B-00-00-01-E3-00
            """, .malformedLine(line: 2, expected: .init(.uniqueBlock))
        ),
        (
            """
            Suica 乗降履歴情報 [0]  16-01-00-02-16-6C-E3-3B-E6-21-0A-00-00-01-E3-00
            Suica 乗降履歴情報 [1]  16-01-00-02-16-6C
            """, .malformedLine(line: 2, expected: .init(.bytesInHex, "16"))
        ),
    ]

    @Test(arguments: sample.indices) func printsOfFelicalibsSamples(_ place: Int) throws {
        let (text, expected) = Self.sample[place]
        do throws(DocumentError) {
            let read = try DumpFormatRegistry.complete.read(Array(text.utf8))
            #expect(read.format == "felicalib-sample" && expected == nil)
        } catch {
            #expect(error == expected)
        }
    }
}
