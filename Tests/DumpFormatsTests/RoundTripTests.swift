// SPDX-License-Identifier: Apache-2.0

import CardModel
import DumpFormats
import DumpFormatsXML
import TestSupport
import Testing

@Suite struct RoundTripTests {
    /// The formats that hold a FeliCa card.
    static let writable = ["json", "hex", "flipper", "proxmark", "metrodroid", "libpafe"]

    @Test func theseFormatsAreWritten() {
        #expect(
            Set(DumpFormatRegistry.complete.writable.map(\.id))
                == Set(RoundTripTests.writable).union(ClassicFormatTests.writable))
    }

    /// Random cards survive every format that is written: each block, each service, the IDm and the PMm.
    @Test(arguments: writable, 1...40) func loseNothing(_ id: String, seed: Int) throws {
        let dump = RandomDump.make(seed: UInt64(seed))
        let format = try #require(DumpFormatRegistry.complete.writable.first { $0.id == id })
        let text = try format.write(dump)
        #expect(text.last == 0x0A)
        let read = try DumpFormatRegistry.complete.read(text)
        #expect(read.format == id)
        let again = try #require(read.dumps.first)
        #expect(read.dumps.count == 1)
        #expect(again.card.pmm ?? dump.card.pmm == dump.card.pmm)
        #expect(again.card.idm == dump.card.idm)
        #expect(Set(places(again)) == Set(places(dump)))
        #expect(places(again).count == places(dump).count)
        // Metrodroid keeps one IDm and one PMm a card.
        guard id != "metrodroid" else { return }
        #expect(again.systems.map(\.systemCode) == dump.systems.map(\.systemCode))
        #expect(again.systems.map(\.idm) == dump.systems.map(\.idm))
        if id != "hex" { #expect(again.systems.map(\.pmm) == dump.systems.map(\.pmm)) }
        if ["json", "proxmark"].contains(id) { #expect(again.systems.map(\.areas) == dump.systems.map(\.areas)) }
        if id == "json" { #expect(again == dump) }
    }

    /// A time that does not exist is left out, not moved to another day.
    @Test(arguments: [
        ("2026-02-28T00:00:00Z", "2026-02-28T00:00:00Z"), ("2026-11-20T12:34:56.789+09:00", "2026-11-20T03:34:56.789Z"),
        ("2026-02-31T00:00:00Z", nil), ("2026-04-31T00:00:00Z", nil), ("yesterday", nil),
    ])
    func timeOfReading(_ text: String, _ expected: String?) throws {
        var dump = RandomDump.make(seed: 1)
        dump.readAt = text
        let format = try #require(DumpFormatRegistry.complete.writable.first { $0.id == "metrodroid" })
        #expect(try DumpFormatRegistry.complete.read(format.write(dump)).dumps.first?.readAt == expected)
    }

    /// A FeliCa Lite goes into a Flipper's own places for its blocks.
    @Test func liteKeepsItsBlocks() throws {
        let fixture = FormatFixture(format: "flipper", name: "lite.nfc")
        let dump = try #require(try DumpFormatRegistry.complete.read(fixture.bytes).dumps.first)
        let text = try FlipperFormat().write(dump)
        #expect(String(decoding: text, as: UTF8.self).contains("Data format version: 1\n"))
        let again = try #require(try DumpFormatRegistry.complete.read(text).dumps.first)
        #expect(FormatFixture.lines(again) == FormatFixture.lines(dump))
    }

    /// FeliCa Lite and Lite-S with and without NDEF: no block, no service and neither system is lost on the way through
    /// any format (the listing has lines for blocks only), and a Flipper finds them in its own places, not as a FeliCa
    /// Standard.
    @Test(arguments: ["cards/felica-lite-s/card.json", "tags/lite-s-no-ndef.json", "tags/lite-no-ndef.json"], writable)
    func liteSurvivesEveryFormat(_ path: String, _ id: String) throws {
        let bytes = try TestFiles.read("Fixtures/\(path)")
        let dump = try #require(try DumpFormatRegistry.complete.read(bytes).dumps.first)
        let format = try #require(DumpFormatRegistry.complete.writable.first { $0.id == id })
        let text = try format.write(dump)
        let again = try #require(try DumpFormatRegistry.complete.read(text).dumps.first)
        let isListing = id == "hex"
        #expect(places(again) == places(dump).filter { !isListing || $0.split(separator: " ").count == 4 })
        #expect(Set(again.systems.map(\.systemCode)) == Set(dump.systems.map(\.systemCode)))
        #expect(again.card.idm == dump.card.idm)
        #expect(again.systems.map(\.idm) == dump.systems.map(\.idm) || id == "metrodroid")
        #expect(String(decoding: text, as: UTF8.self).contains("Blocks total: 28\n") == (id == "flipper"))
    }

    /// A second system with blocks of its own has no place in the Flipper's list of a FeliCa Lite.
    @Test func twoSystemsWithBlocksAreNotOne() throws {
        let bytes = try TestFiles.read("Fixtures/cards/felica-lite-s/card.json")
        var dump = try #require(try DumpFormatRegistry.complete.read(bytes).dumps.first)
        dump.systems[1].services[1].blocks = [0: .zero]
        let text = try FlipperFormat().write(dump)
        #expect(String(decoding: text, as: UTF8.self).contains("System found: 2\n"))
        let again = try #require(try DumpFormatRegistry.complete.read(text).dumps.first)
        #expect(places(again) == places(dump))
    }

    /// The whole card of the fixtures, format by format, one after another.
    @Test func aChainOfFormats() throws {
        var dump = try #require(
            try DumpFormatRegistry.complete.read(FormatFixture(format: "json", name: "card.json").bytes).dumps.first)
        let before = places(dump)
        for id in ["flipper", "proxmark", "hex", "libpafe", "metrodroid", "json", "flipper"] {
            let format = try #require(DumpFormatRegistry.complete.writable.first { $0.id == id })
            dump = try #require(try DumpFormatRegistry.complete.read(format.write(dump)).dumps.first)
        }
        #expect(places(dump) == before)
        #expect(dump.card.idm?.description == "0101031234567890")
        #expect(dump.card.pmm?.description == "0120220427674eff")
    }

    /// The IDm of a card of which the file does not say more survives, and what was assumed stays marked.
    @Test(arguments: ["json", "hex", "flipper", "proxmark", "libpafe"])
    func theOnlyIDmIsKept(_ id: String) throws {
        let fixture = FormatFixture(format: "flipper", name: "standard.nfc")
        let dump = try #require(try DumpFormatRegistry.complete.read(fixture.bytes).dumps.first)
        let format = try #require(DumpFormatRegistry.complete.writable.first { $0.id == id })
        let again = try #require(try DumpFormatRegistry.complete.read(format.write(dump)).dumps.first)
        #expect(again.card.idm == dump.card.idm)
        #expect(again.card.pmm == dump.card.pmm)
        #expect(again.systems.map(\.idm) == dump.systems.map(\.idm))
        if id != "hex" { #expect(FormatFixture.lines(again) == FormatFixture.lines(dump)) }
    }

    @Test func rejectsWhatAFormatCannotHold() throws {
        var dump = RandomDump.make(seed: 7)
        dump.systems.append(dump.systems[0])
        let code = dump.systems[0].systemCode
        #expect(throws: DumpWritingError.systemTwice(code)) { try MetrodroidFormat().write(dump) }
        #expect(throws: Never.self) { try ProxmarkFeliCaFormat().write(dump) }
        dump.systems = [dump.systems[0]]
        let service = ServiceDump(code: ServiceCode(rawValue: 0x090F), state: .read)
        dump.systems[0].services = [service, service]
        for id in ["hex", "flipper", "proxmark", "metrodroid", "libpafe"] {
            let format = try #require(DumpFormatRegistry.complete.writable.first { $0.id == id })
            #expect(throws: DumpWritingError.serviceTwice(code, service.code)) { try format.write(dump) }
        }
        let other = CardDump(card: CardIdentity(technology: .typeA))
        for (id, error) in [
            ("flipper", DumpWritingError.notSupported(.typeA)), ("proxmark", .notSupported(.typeA)),
            ("metrodroid", .notFeliCa(.typeA)), ("libpafe", .notFeliCa(.typeA)), ("mfd", .notClassic(.typeA)),
            ("mct", .notClassic(.typeA)), ("eml", .notClassic(.typeA)),
        ] {
            let format = try #require(DumpFormatRegistry.complete.writable.first { $0.id == id })
            #expect(throws: error) { try format.write(other) }
        }
    }

    /// An IDm that nobody knows is not written as zeros.
    @Test func anUnknownIDmIsNotInvented() throws {
        let lines = try FormatFixture(format: "hex-lines", name: "oldest-first.txt").bytes
        let dump = try #require(try DumpFormatRegistry.complete.read(lines).dumps.first)
        #expect(throws: DumpWritingError.noIDm) { try FlipperFormat().write(dump) }
        #expect(throws: DumpWritingError.noIDm) { try MetrodroidFormat().write(dump) }
        for format: any WritableDumpFormat in [LibpafeFormat(), ProxmarkFeliCaFormat()] {
            let text = String(decoding: try format.write(dump), as: UTF8.self)
            #expect(!text.contains("0000000000000000\""))
            #expect(!text.contains("IDm"))
        }
    }

    private func places(_ dump: CardDump) -> [String] {
        dump.systems.flatMap { system in
            system.services.flatMap { service in
                ["\(system.systemCode) \(service.code)"].filter { _ in service.blocks.isEmpty }
                    + service.blocks.map { "\(system.systemCode) \(service.code) \($0.number) \($0.block)" }
            }
        }.sorted()
    }
}
