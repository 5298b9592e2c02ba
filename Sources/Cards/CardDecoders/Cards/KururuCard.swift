// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// KURURU of Nagano, system 8D3F.
//
// One source (thinkAmi's two readers, RubotoFelicaRead of 2013 and nfcpy-sample of 2018): the history of 000F. Their
// author calls machine, place, kind, company and discount guesses, so their names are marked. No card is published.
// 000B, 004B and 008B stay raw.

extension CardKind {
    /// KURURU.
    public static let kururu = CardKind(rawValue: "kururu")
}

/// Decodes KURURU: balance and the last ten records.
package struct KururuDecoder: HistoryBalanceDecoder {
    package let kind = CardKind.kururu
    package let name = LocalizedText("KURURU", "KURURU（長野）")
    /// The ten blocks of service 000F.
    package let historyRead = ReadRequest(0x8D3F, 0x000F, 0..<10)
    package let balanceOffset = 12

    /// The services whose layout is not published: one of them may hold the number of the card.
    package let personal = [0x000B, 0x004B, 0x008B].map { PersonalBytes(0x8D3F, $0) }

    package init() {}

    package func record(_ block: Block) -> HistoryRecord? { KururuHistoryBlock(block)?.record }
}

/// One block of service 000F; all numbers are big-endian.
///
/// Packed day (0, 1), time of alighting in tens of minutes (2), machine (3, 4), time of boarding in tens of minutes (5),
/// stops of boarding (6, 7) and alighting (8, 9), place and kind (10), company and discount (11), balance (12 to 15).
struct KururuHistoryBlock {
    private static let places = LocalCode.all(of: "kururu", .terminal)
    private static let kinds = LocalCode.all(of: "kururu", .process)

    let raw: Block

    /// Creates a record, or `nil` for an unused slot: a day of 0.
    init?(_ block: Block) {
        guard block.uint16(at: 0, .big) != 0 else { return nil }
        raw = block
    }

    /// The balance after the record in yen.
    var balance: Int { Int(raw.uint32(at: 12, .big)) }

    /// The record without its amount.
    var record: HistoryRecord {
        let date = CalendarDate(packed: raw.uint16(at: 0, .big))
        let (place, action) = (raw[10] >> 4, raw[10] & 0xF)
        let (machine, process) = (Self.places[UInt32(place)], Self.kinds[UInt32(action)])
        // A payment is a ride where the machine says so.
        let isRide = action == Self.payment && machine?.kind == .bus
        let (start, end) = (ClockTime(tensOfMinutes: raw[5]), ClockTime(tensOfMinutes: raw[2]))
        var warnings: [DecodingWarning] = date == nil ? [.invalidDate] : []
        warnings.append(end == nil || isRide && start == nil ? .invalidTime : .tenMinuteTime)
        return HistoryRecord(
            serial: nil, date: date, time: end, entryTime: isRide ? start : nil,
            kind: isRide ? .bus : process?.kind ?? .other,
            terminal: CodedValue(code: place, name: machine?.name, doubt: machine == nil ? nil : .oneSource),
            process: CodedValue(code: action, name: process?.name, doubt: process == nil ? nil : .oneSource),
            device: DeviceNumber(rawValue: raw.uint16(at: 3, .big)), entry: stop(at: 6), exit: stop(at: 8),
            balance: balance,
            warnings: warnings, raw: raw)
    }

    private static let payment: UInt8 = 2

    /// Returns a stop with its company, or `nil` for 0000.
    private func stop(at offset: Int) -> Place? {
        let stop = raw.uint16(at: offset, .big)
        guard stop != 0 else { return nil }
        let place = Place(
            LocalStopCode(
                system: SystemCode(rawValue: 0x8D3F), operatorCode: UInt16(raw[11] >> 4), stop: UInt32(stop)))
        return Place(code: place.code, name: place.name, doubt: .oneSource)
    }
}
