// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// MRT Pass and Rapid Pass of Dhaka, system 90E3.
//
// One source (MRT Buddy), with blocks that it made up: the history of 220F. The stations are those of its list, whose
// numbers are decimal. Hours have no minutes; bytes 14 and 15 are unknown; the services 250F, 260B, 280B and 300F are
// not read.

extension CardKind {
    /// Dhaka MRT Pass or Rapid Pass.
    public static let dhaka = CardKind(rawValue: "dhaka")
}

/// Decodes the cards of Dhaka: balance and the last twenty records.
package struct DhakaDecoder: HistoryBalanceDecoder {
    package let kind = CardKind.dhaka
    package let name = LocalizedText("Dhaka MRT Pass or Rapid Pass", "ダッカMRT Pass・Rapid Pass")
    /// The twenty blocks of service 220F.
    package let historyRead = ReadRequest(0x90E3, 0x220F, 0..<20)
    package let balanceOffset = 11
    package let currency = Currency.taka

    package init() {}

    package func record(_ block: Block) -> HistoryRecord? { DhakaHistoryBlock(block)?.record }
}

/// One block of service 220F.
///
/// Header (0 to 3), date (4, 5), hour in the high five bits of 6, stations at 8 and 10, balance in whole taka in 11 to
/// 13, little-endian.
struct DhakaHistoryBlock {
    private static let headers = LocalCode.all(of: "dhaka", .process)

    let raw: Block

    /// Creates a record, or `nil` for an empty slot: all 00, all FF (Rapid Pass, fmr2), or a day before 2020, when the card
    /// did not exist.
    init?(_ block: Block) {
        let date = CalendarDate(packed: block.uint16(at: 4, .big))
        let isWritten = !block.isZero && block.bytes.contains { $0 != 0xFF }
        guard isWritten, date.map({ $0.year >= 2020 }) ?? true else { return nil }
        raw = block
    }

    /// The balance after the record in poisha.
    var balance: Int { Int(raw.uint24(at: 11, .little)) * 100 }

    /// The record without its amount; the whole header, which begins with the two coded bytes, determines its kind.
    var record: HistoryRecord {
        let date = CalendarDate(packed: raw.uint16(at: 4, .big))
        let hour = PartialMoment(hour: Int(raw[6] >> 3))
        let known = DhakaHistoryBlock.headers[raw.uint32(at: 0, .big)]
        return HistoryRecord(
            serial: nil, date: date, partial: hour, kind: known?.kind ?? .other,
            terminal: CodedValue(code: raw[0], name: nil), process: CodedValue(code: raw[1], name: known?.name),
            entry: station(at: 8), exit: station(at: 10), balance: balance,
            warnings: (date == nil ? [.invalidDate] : []) + (hour == nil ? [.invalidTime] : []), raw: raw)
    }

    /// Returns a station, or `nil` for 00.
    private func station(at offset: Int) -> Place? {
        let code = raw[offset]
        guard code != 0 else { return nil }
        return Place(
            LocalStopCode(system: SystemCode(rawValue: 0x90E3), stop: UInt32(code), digits: 2))
    }
}
