// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import TestSupport
import Testing

/// Any sixteen bytes may lie in a block of a regional or foreign card.
@Suite("Random blocks of regional and foreign cards")
struct RegionalRandomTests {
    static let ids: [CardKind] = [
        "okica", "ryuto", "toyama", "ayuca", "ica", "rapica", "nicepass", "kururu", "kmt", "mrtj", "hcmc",
        "dhaka", "felica-lite", "ndef", "fcf", "gifu-university", "coop-member", "luluca",
    ]
    /// Where amounts are differences of balances.
    static let differences: Set<CardKind> = ["okica", "ayuca", "ica", "rapica", "nicepass", "kururu", "dhaka"]
    /// Where records state amounts of their own, which are checked against the balances.
    static let stated: Set<CardKind> = ["toyama"]

    /// A dump with random blocks in what the decoder reads; some are missing, some services were cut short.
    private func dump(_ decoder: any CardDecoder, _ generator: inout RandomBlockTests.Seeded) -> CardDump {
        var services: [ServiceCode: ServiceDump] = [:]
        for request in decoder.historyReads + [decoder.balanceRead] where Int.random(in: 0..<8, using: &generator) > 0 {
            var service = services[request.service] ?? ServiceDump(code: request.service, state: .read)
            for number in request.blocks where Int.random(in: 0..<32, using: &generator) > 0 {
                service.blocks[number] = generator.block()
            }
            if Int.random(in: 0..<4, using: &generator) == 0 { service.state = .lost }
            services[request.service] = service
        }
        return Dumps.card(decoder.system, services.values.sorted { $0.code < $1.code })
    }

    @Test("Nothing traps, nothing is made up, no record is left out", arguments: ids)
    func random(_ id: CardKind) throws {
        let decoder = try #require(DecoderRegistry.standard.decoder(of: id))
        var generator = RandomBlockTests.Seeded(state: id.rawValue.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) })
        for _ in TestEffort.rounds(25) {
            let dump = dump(decoder, &generator)
            let report: CardReport
            do throws(CardDecodingError) {
                report = try decoder.decode(dump)
            } catch {
                #expect(error.kind == id)
                continue
            }
            #expect(decoder.recognizes(dump))
            #expect(report.kind == id && report.balances.allSatisfy { $0.kind == id })
            #expect(report.fields.allSatisfy { !$0.key.isEmpty && !$0.value.isEmpty })
            let history = report.history ?? []
            for record in history { check(record, dump) }
            if !report.warnings.contains(.historyIncomplete) { checkAmounts(history, id) }
            let document = report.historyReport?.json(.japanese, card: .invented).compactText ?? "{}"
            #expect(try JSONValue(parsing: Array(document.utf8)).compactText == document)
        }
    }

    private func check(_ record: HistoryRecord, _ dump: CardDump) {
        #expect(dump.systems[0].services.contains { $0.blocks.values.contains(record.raw) })
        #expect(record.date == nil || record.partial?.month == nil, "a day is whole or not")
        #expect(record.time == nil || record.partial?.hour == nil, "a time is whole or not")
        if let date = record.date {
            #expect(CalendarDate(year: date.year, month: date.month, day: date.day) == date)
        }
        for case .local(let code)? in [record.entry?.code, record.exit?.code] {
            #expect(code.system == dump.systems[0].systemCode)
            #expect(code.stopHex.utf8.count == code.digits && UInt32(code.stopHex, radix: 16) == code.stop)
        }
    }

    /// Amounts and balances of a history without a hole.
    private func checkAmounts(_ history: [HistoryRecord], _ id: CardKind) {
        for (newer, older) in zip(history, history.dropFirst()) {
            guard let amount = newer.amount, let after = newer.balance, let before = older.balance else { continue }
            let fits = amount == after - before
            #expect(fits || !Self.differences.contains(id))
            #expect(fits != newer.warnings.contains(.amountDiffersFromBalances) || !Self.stated.contains(id))
        }
    }
}
