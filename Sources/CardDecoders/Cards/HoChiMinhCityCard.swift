// SPDX-License-Identifier: Apache-2.0

package import CardModel

// The card of Ho Chi Minh City Metro, system 9450.
//
// Only its services are published: 10D7 is open, as on MRT Jakarta's card. That it has the same layout is a guess by
// analogy, so the value is reported as a candidate, not as a balance.

extension CardKind {
    /// Ho Chi Minh City Metro.
    public static let hoChiMinhCity = CardKind(rawValue: "hcmc")
}

/// Decodes the card of Ho Chi Minh City Metro: the purse, assuming that it has the layout of Jakarta's.
package struct HoChiMinhCityDecoder: CardDecoder {
    /// The identifier `hcmc`.
    package let kind = CardKind.hoChiMinhCity
    /// HCMC Metro.
    package let name = LocalizedText("Ho Chi Minh City Metro", "ホーチミン市メトロ")
    /// Service 10D7.
    package let balanceRead = ReadRequest(0x9450, 0x10D7)
    /// Purse and number (100B).
    package var historyReads: [ReadRequest] { [balanceRead, numberRead] }
    /// The records have no serial numbers.
    package let serials: SerialNumbers? = nil

    /// 100B: the number of the card.
    package let personal = [PersonalBytes(0x9450, 0x100B)]

    private let numberRead = ReadRequest(0x9450, 0x100B, isRequired: false)

    package init() {}

    /// Returns whether the system has the purse or the number.
    package func recognizes(_ dump: CardDump) -> Bool { dump.holds(balanceRead) || dump.holds(numberRead) }

    /// No amount, but a candidate: four bytes, little-endian, dong.
    package func balance(_ dump: CardDump) throws(CardDecodingError) -> BalanceReport {
        let purse = JakartaPurse(try dump.block(balanceRead, kind: kind, field: "balance", offset: 0))
        let candidate = BalanceCandidate(
            amount: purse.balance,
            condition: LocalizedText(
                "if the purse is laid out as that of MRT Jakarta", "MRTジャカルタと同じ形式の場合"))
        return BalanceReport(
            balances: [BalanceEntry(kind: kind, name: name, amount: nil, currency: .dong, candidates: [candidate])],
            warnings: [.layoutNotPublished])
    }

    /// Decodes the candidate, and the bytes that contain the number.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        var report = CardReport(kind: kind, name: name)
        let number = dump.opened(numberRead)?.blocks[0]
        try report.takeBalance(orElse: number != nil) { () throws(CardDecodingError) in try balance(dump) }
        if let number { report.fields.append(.rawNumber(number)) }
        return report
    }
}
