// SPDX-License-Identifier: Apache-2.0

import KazasuCards

/// The card of a staff canteen. Service 100B: balance in bytes 0 and 1 (little-endian, yen), staff number in bytes 4 to 7
/// (ASCII). Service 180F: one block for each meal, newest first, with its price in bytes 0 and 1.
struct CanteenDecoder: CardDecoder {
    static let system = SystemCode(rawValue: 0x8FC1)

    let kind: CardKind = "canteen"
    let name = LocalizedText("Canteen card", "社員食堂カード")
    let balanceRead = ReadRequest(system: system, service: ServiceCode(rawValue: 0x100B), blocks: 0..<1)
    let mealsRead = ReadRequest(
        system: system, service: ServiceCode(rawValue: 0x180F), blocks: 0..<10, isRequired: false)
    var historyReads: [ReadRequest] { [balanceRead, mealsRead] }
    let serials: SerialNumbers? = nil
    let personal = [PersonalBytes(system: system, service: ServiceCode(rawValue: 0x100B), bytes: 4..<8)]

    func recognizes(_ dump: CardDump) -> Bool { dump.holds(balanceRead) }

    func balance(_ dump: CardDump) throws(CardDecodingError) -> BalanceReport {
        let purse = try dump.block(balanceRead, kind: kind, field: "balance", offset: 0)
        return BalanceReport(balances: [BalanceEntry(kind: kind, name: name, amount: purse.littleEndian(at: 0))])
    }

    func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        let purse = try dump.block(balanceRead, kind: kind, field: "staffNumber", offset: 4)
        return CardReport(
            kind: kind, name: name, balances: try balance(dump).balances, history: meals(dump),
            fields: [
                CardField(
                    key: "staffNumber", name: LocalizedText("Staff number", "社員番号"),
                    value: String(decoding: purse.bytes[4..<8], as: UTF8.self), isPersonal: true)
            ])
    }

    /// The meals up to the first unused block; `nil` when the dump does not contain the service.
    private func meals(_ dump: CardDump) -> [HistoryRecord]? {
        guard let service = dump.opened(mealsRead) else { return nil }
        var meals: [HistoryRecord] = []
        for number in mealsRead.blocks {
            guard let block = service[number], !block.isZero else { break }
            meals.append(HistoryRecord(serial: nil, kind: .purchase, amount: -block.littleEndian(at: 0), raw: block))
        }
        return meals
    }
}

extension Block {
    func littleEndian(at offset: Int) -> Int { Int(self[offset]) | Int(self[offset + 1]) << 8 }
}
