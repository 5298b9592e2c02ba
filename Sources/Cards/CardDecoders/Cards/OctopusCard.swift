// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// Octopus (Hong Kong), system 8008, and the old FeliCa Shenzhen Tong, system 8005.
//
// Certain (blocks of real cards, Metrodroid, CoreExtendedNFC): 0117 begins with a number, four bytes, big-endian, in
// tenths of a dollar plus an offset, so that a negative balance can be stored. Disputed: the offset, 350 or 500 (the
// balance can go down to -35 or -50 dollars). Metrodroid uses 500 for scans since 2017-10-01, Metroflip always; but a
// physical card read in 2026 has 350, the value that two applications use for every card. Octopus raised the limit for
// cards distributed since 2017-10-01, and the purse does not say when that was, so both amounts are reported unless the
// chip decides. Universal-Card-Reader of Hong Kong, with a table of real cards by IC code (bytes 0 and 1 of the PMm):
// 043B (T-Union), 0120, 0301 and cards with system 8005 have 350; 0332 and 0224 occur with both, 0238 and 013B on one
// card each. One source (Metrodroid): Shenzhen Tong, 0118, the same with 350.

extension CardKind {
    /// Octopus.
    public static let octopus = CardKind(rawValue: "octopus")
    /// Shenzhen Tong (legacy).
    public static let shenzhenTong = CardKind(rawValue: "shenzhen-tong")
}

/// Decodes cards whose purse begins with tenths plus an offset: Octopus and Shenzhen Tong.
package struct OctopusDecoder: CardDecoder {
    package let kind: CardKind
    package let name: LocalizedText
    /// Block 0 of the purse.
    package let balanceRead: ReadRequest
    /// The purse; neither card has a history that is readable without a key.
    ///
    /// Old cards do not list their services: a dump of one contains those that were read.
    package var historyReads: [ReadRequest] { [balanceRead] }

    /// The system whose presence decides the offset; empty where there is only one.
    package var companions: [SystemCode] { offsets.count > 1 ? [OctopusDecoder.shenzhenTong.system] : [] }

    private let currency: Currency
    /// The possible offsets; the first is that of older chips.
    private let offsets: [(offset: Int, condition: LocalizedText)]
    private let warnings: [DecodingWarning]

    package static let octopus = OctopusDecoder(
        kind: .octopus, name: LocalizedText("Octopus", "オクトパス（八達通）"),
        balanceRead: ReadRequest(0x8008, 0x0117), currency: .hongKongDollar,
        offsets: [
            (350, LocalizedText("if the card may go down to -35.00", "-35.00まで使えるカードの場合")),
            (500, LocalizedText("if the card may go down to -50.00", "-50.00まで使えるカードの場合")),
        ],
        warnings: [])

    /// The old Shenzhen Tong.
    package static let shenzhenTong = OctopusDecoder(
        kind: .shenzhenTong, name: LocalizedText("Shenzhen Tong (legacy)", "深圳通（旧）"),
        balanceRead: ReadRequest(0x8005, 0x0118), currency: .yuan, offsets: [(350, LocalizedText("", ""))],
        warnings: [.oneSource])

    /// The balance in hundredths; where nothing decides the offset, the possible amounts.
    package func balance(_ dump: CardDump) throws(CardDecodingError) -> BalanceReport {
        let raw = Int(try dump.block(balanceRead, kind: kind, field: "balance", offset: 0).uint32(at: 0, .big))
        let candidates = offsets.map {
            BalanceCandidate(amount: (raw - $0.offset) * 10, condition: $0.condition)
        }
        let basis = offsets.count > 1 ? basis(dump) : nil
        let only = offsets.count == 1 || basis != nil ? candidates.first?.amount : nil
        return BalanceReport(
            balances: [
                BalanceEntry(
                    kind: kind, name: name, amount: only, currency: currency, candidates: only == nil ? candidates : [],
                    basis: basis)
            ],
            warnings: warnings)
    }

    /// Why the first offset is the right one, or `nil` when it may be another.
    private func basis(_ dump: CardDump) -> BalanceBasis? {
        guard let system = dump.system(system) else { return nil }
        if OctopusDecoder.olderICCodes.contains(system.pmm.rawValue >> 48) { return .icCode }
        if companions.contains(where: { dump.system($0) != nil }) { return .secondSystem }
        // A chip may wait for months until its card is distributed: only those made a year before the change count.
        guard let made = system.idm.manufactureDay, (made.year, made.month) < (2016, 10) else { return nil }
        return .manufactured
    }

    private static let olderICCodes: Set<UInt64> = [0x043B, 0x0120, 0x0301]

    /// Decodes the balance.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        let money = try balance(dump)
        return CardReport(kind: kind, name: name, balances: money.balances, warnings: money.warnings)
    }
}
