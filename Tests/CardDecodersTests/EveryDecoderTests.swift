// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import TestSupport
import Testing

/// Any sixteen bytes may lie in a block, whatever the card: every decoder of the registry, new ones by themselves.
@Suite("Random blocks in every decoder")
struct EveryDecoderTests {
    static let ids = DecoderRegistry.standard.decoders.map(\.id)

    /// A dump with random blocks in what the decoder reads, and in the services beside it.
    private func dump(_ decoder: any CardDecoder, _ generator: inout RandomBlockTests.Seeded) -> CardDump {
        var services: [ServiceCode: ServiceDump] = [:]
        for request in decoder.historyReads + [decoder.balanceRead] where Int.random(in: 0..<8, using: &generator) > 0 {
            var service = services[request.service] ?? ServiceDump(code: request.service, state: .read)
            for number in request.blocks where Int.random(in: 0..<16, using: &generator) > 0 {
                service.blocks[number] = generator.block()
            }
            if Int.random(in: 0..<4, using: &generator) == 0 { service.state = .lost }
            services[request.service] = service
        }
        return Dumps.card(decoder.system, services.values.sorted { $0.code < $1.code })
    }

    @Test("No trap, no date or time that does not exist, no code lost, documents that parse", arguments: ids)
    func random(_ id: String) throws {
        let decoder = try #require(DecoderRegistry.standard.decoder(id: id))
        var generator = RandomBlockTests.Seeded(state: UInt64(id.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) }))
        for _ in 0..<60 {
            let dump = dump(decoder, &generator)
            let report: CardReport
            do throws(DecodingFailure) {
                report = try decoder.decode(dump)
            } catch {
                #expect(error.card == id)
                continue
            }
            #expect(decoder.recognises(dump))
            #expect(report.card == id && report.balances.allSatisfy { $0.card == id })
            for record in report.history ?? [] { check(record, dump) }
            let document = report.historyReport?.json(.japanese).compactText ?? "{}"
            #expect(try JSONValue(parsing: Array(document.utf8)).compactText == document)
            #expect(report.fields.allSatisfy { !$0.key.isEmpty && !$0.value.isEmpty })
        }
    }

    private func check(_ record: HistoryRecord, _ dump: CardDump) {
        #expect(dump.systems[0].services.contains { $0.blocks.values.contains(record.raw) })
        if let date = record.date {
            #expect(CalendarDate(year: date.year, month: date.month, day: date.day) == date)
        }
        for time in [record.time, record.entryTime].compactMap({ $0 }) {
            #expect(ClockTime(hour: time.hour, minute: time.minute) != nil)
        }
        for code in [record.terminal, record.process, record.payment, record.gate].compactMap({ $0 }) {
            #expect(code.hex.utf8.count == 2)
        }
    }
}
