// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import TestSupport
import Testing

/// What holds for every decoder that there is, whatever lies in the blocks: a decoder that is added later is among them.
@Suite("Every decoder")
struct EveryDecoderTests {
    /// The services that are known of a system, from the registry's own file.
    private static let services: [(systems: Set<String>, service: ServiceCode)] = {
        let text = (try? TestFiles.read("Sources/Protocols/FeliCa/Registry/Data/services.tsv")) ?? []
        return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { line in
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard fields.count > 1, let service = ServiceCode(fields[1]) else { return nil }
            return (Set(fields[0].split(separator: " ").map(String.init)), service)
        }
    }()

    private static func services(of decoder: any CardDecoder) -> [ServiceCode] {
        let known = services.filter { $0.systems.contains(decoder.system.description) }.map(\.service)
        return (decoder.historyReads + [decoder.balanceRead]).map(\.service) + known
    }

    /// A number of its own for every decoder.
    private static func seed(_ id: CardKind, _ start: UInt64) -> UInt64 {
        id.rawValue.utf8.reduce(start) { $0 &* 31 &+ UInt64($1) }
    }

    /// Cards that are recognized by records in the right layout, which random blocks hardly ever are.
    private static let byContents: Set<CardKind> = ["icu"]

    static let ids = DecoderRegistry.standard.decoders.map(\.kind)

    @Test("Random blocks give a report of facts only, and a document that is well formed", arguments: ids)
    func randomBlocks(_ id: CardKind) throws {
        let decoder = try #require(DecoderRegistry.standard.decoder(of: id))
        var generator = RandomBlockTests.Seeded(state: Self.seed(id, 7))
        var codes = Set(Self.services(of: decoder))
        codes.insert(decoder.balanceRead.service)
        let ordered = codes.sorted()
        for _ in TestEffort.rounds(10) {
            let services = ordered.map { code in
                Dumps.service(code, (0..<Int.random(in: 1...24, using: &generator)).map { _ in generator.block() })
            }
            let dump = Dumps.card(decoder.system, services)
            guard decoder.recognizes(dump) else {
                #expect(Self.byContents.contains(id))
                continue
            }
            let report = try decoder.decode(dump, stations: NoStationNames())
            #expect(report.kind == id)
            #expect(!decoder.hasBalance || report.balances.count == 1)
            check(report, dump)
        }
    }

    @Test("Random states, holes and numbers of blocks never trap, and a failure names its decoder", arguments: ids)
    func randomDumps(_ id: CardKind) throws {
        let decoder = try #require(DecoderRegistry.standard.decoder(of: id))
        var generator = RandomBlockTests.Seeded(state: Self.seed(id, 11))
        let codes = Self.services(of: decoder)
        let states: [ReadState] = [
            .read, .lost, .skipped, .keyRequired, .refused(status: 0x01A5), .refused(status: nil),
        ]
        for _ in TestEffort.rounds(10) {
            var seen: Set<ServiceCode> = []
            let services = codes.shuffled(using: &generator).prefix(5).filter { seen.insert($0).inserted }.map { code in
                var blocks: BlockTable = [:]
                for _ in 0..<Int.random(in: 0...6, using: &generator) {
                    let edge: UInt16 = [0, 1, 2, 3, 5, 255, 256, .max].randomElement(using: &generator) ?? 0
                    blocks[edge] = generator.block()
                }
                return ServiceDump(
                    code: code, state: states.randomElement(using: &generator) ?? .read, blocks: blocks)
            }
            let dump = Dumps.card(decoder.system, services)
            do {
                let report = try decoder.decode(dump, stations: NoStationNames())
                check(report, dump)
            } catch {
                #expect(error.kind == id)
            }
        }
    }

    private func check(_ report: CardReport, _ dump: CardDump) {
        let blocks = Set(dump.systems.flatMap(\.services).flatMap(\.blocks.values))
        for record in report.history ?? [] {
            #expect(blocks.contains(record.raw))
            if let date = record.date {
                #expect(CalendarDate(year: date.year, month: date.month, day: date.day) == date)
            }
            for time in [record.time, record.entryTime].compactMap({ $0 }) {
                #expect(ClockTime(hour: time.hour, minute: time.minute, second: time.second) == time)
            }
            for value in [record.terminal, record.process, record.payment, record.gate].compactMap({ $0 }) {
                #expect(value.hex.utf8.count == 2 && value.name?.english.isEmpty != true)
            }
        }
        for balance in report.balances {
            #expect(balance.kind == report.kind)
            #expect(balance.amount == nil || balance.candidates.isEmpty)
        }
        for field in report.fields {
            #expect(!field.key.isEmpty && !field.value.isEmpty && !field.name.japanese.isEmpty)
        }
        for language in Language.allCases {
            let text = report.json(language, redact: { _ in "*" }).compactText
            #expect((try? JSONValue(parsing: Array(text.utf8)))?.compactText == text)
        }
    }
}
