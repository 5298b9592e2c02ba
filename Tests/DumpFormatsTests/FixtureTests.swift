// SPDX-License-Identifier: Apache-2.0

import CardModel
import DumpFormats
import DumpFormatsXML
import Testing

@Suite struct FixtureTests {
    @Test func everyFormatHasAFixture() {
        let ids = DumpFormatRegistry.complete.formats.map(\.id)
        #expect(Set(ids).count == ids.count)
        #expect(Set(FormatFixture.all.map(\.format)) == Set(ids))
    }

    @Test(arguments: FormatFixture.all) func isRecognizedAsItsFormatOnly(_ fixture: FormatFixture) throws {
        let source = try DumpSource(fixture.bytes)
        #expect(DumpFormatRegistry.complete.recognize(source)?.id == fixture.format)
        // Each format knows its own by itself, so that the order of the registry decides nothing.
        let all = DumpFormatRegistry.complete.formats.filter { $0.recognizes(source) }.map(\.id)
        #expect(all == [fixture.format])
    }

    @Test(arguments: FormatFixture.all) func isReadToItsBlocks(_ fixture: FormatFixture) throws {
        let read = try DumpFormatRegistry.complete.read(fixture.bytes)
        #expect(read.format == fixture.format)
        #expect(read.dumps.count == 1)
        #expect(try read.dumps.first.map(FormatFixture.lines) == fixture.expected)
    }

    /// Texts only: the bytes of a MIFARE Classic have neither.
    @Test(arguments: FormatFixture.all.filter { $0.format != "mfd" }) func isReadWithByteOrderMarkAndOtherLineEnds(
        _ fixture: FormatFixture
    ) throws {
        var bytes: [UInt8] = [0xEF, 0xBB, 0xBF]
        for byte in try fixture.bytes where byte != 0x0D { bytes += byte == 0x0A ? [0x0D, 0x0A] : [byte] }
        let read = try DumpFormatRegistry.complete.read(bytes)
        #expect(read.format == fixture.format)
        #expect(try read.dumps.first.map(FormatFixture.lines) == fixture.expected)
    }

    /// What was read can be written as Kazasu's own document and read again without any loss.
    @Test(arguments: FormatFixture.all) func becomesADocument(_ fixture: FormatFixture) throws {
        let dump = try #require(try DumpFormatRegistry.complete.read(fixture.bytes).dumps.first)
        let again = try DumpFormatRegistry.complete.read(KazasuJSONFormat().write(dump))
        #expect(again.format == "json")
        // The parser sorts members by name, so both sides pass through it.
        #expect(try again.dumps.map { try sorted($0) } == [sorted(dump)])
    }

    private func sorted(_ dump: CardDump) throws -> JSONValue {
        try JSONValue(parsing: Array(dump.json.compactText.utf8))
    }

    @Test func theNamedFormatIsUsed() throws {
        let fixture = FormatFixture(format: "libpafe", name: "felica_dump.txt")
        #expect(try DumpFormatRegistry.standard.read(fixture.bytes, as: "libpafe").format == "libpafe")
        #expect(throws: DocumentError.self) { try DumpFormatRegistry.standard.read(fixture.bytes, as: "flipper") }
        #expect(throws: DocumentError.self) { try DumpFormatRegistry.standard.read(fixture.bytes, as: "none") }
    }
}
