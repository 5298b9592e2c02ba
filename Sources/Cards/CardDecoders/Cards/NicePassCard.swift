// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// nice-pass of Enshu Railway (Hamamatsu), system 040F.
//
// One source (felica-look), never checked on a published card. The meaning of the sign of a record's amount is
// undocumented, so amounts are differences of balances, checked against the magnitude of the record's own.

extension CardKind {
    /// nice-pass.
    public static let nicepass = CardKind(rawValue: "nicepass")
}

/// Decodes nice-pass: balance and history.
package struct NicePassDecoder: HistoryBalanceDecoder {
    package let kind = CardKind.nicepass
    package let name = LocalizedText("nice-pass", "ナイスパス")
    /// The blocks of service 030F.
    package let historyRead = ReadRequest(0x040F, 0x030F, 0..<20)
    package let balanceOffset = 13

    package init() {}

    package func record(_ block: Block) -> HistoryRecord? { NicePassHistoryBlock(raw: block).record }

    /// Amounts are differences of balances, checked against the records' own.
    package func complete(_ history: inout LocalHistory) {
        history.takeAmountsFromBalances()
        history.update { _, record in
            let stated = NicePassHistoryBlock(raw: record.raw).size
            if let amount = record.amount, abs(amount) != stated {
                record.warnings.append(.amountDiffersFromBalances)
            }
        }
    }
}

/// One block of service 030F; all numbers are big-endian.
///
/// Date, time of alighting in tens of minutes, device (3, 4), stops of boarding and alighting in twenty bits each (5 to
/// 9), terminal and kind (10), kind of amount in four bits and amount in tens of yen in twelve (11, 12), balance.
struct NicePassHistoryBlock {
    private static let machines = LocalCode.all(of: "nicepass", .terminal)
    private static let actions = LocalCode.all(of: "nicepass", .process)

    let raw: Block

    /// The balance after the record in yen.
    var balance: Int { Int(raw.uint16(at: 13, .big)) }

    /// The magnitude of the amount: twelve bits, two's complement, tens of yen.
    var size: Int {
        let bits = Int(raw.uint16(at: 11, .big).bits(0...11))
        return min(bits, 0x1000 - bits) * 10
    }

    /// The record without its amount.
    var record: HistoryRecord {
        let date = CalendarDate(packed: raw.uint16(at: 0, .big))
        let time = ClockTime(tensOfMinutes: raw[2])
        return HistoryRecord(
            serial: nil, date: date, time: time, kind: kind,
            terminal: CodedValue(code: machine, name: NicePassHistoryBlock.machines[UInt32(machine)]?.name),
            process: CodedValue(code: action, name: NicePassHistoryBlock.actions[UInt32(action)]?.name),
            device: DeviceNumber(rawValue: raw.uint16(at: 3, .big)), entry: stop(bits: 20), exit: stop(bits: 0),
            balance: balance,
            warnings: (date == nil ? [.invalidDate] : []) + (time == nil ? [.invalidTime] : [.tenMinuteTime]), raw: raw)
    }

    private var machine: UInt8 { raw[10] >> 4 }
    private var action: UInt8 { raw[10] & 0xF }

    /// The kind: a ride has one of the actions 1 to 3; other actions of ride terminals are unknown.
    private var kind: RecordKind {
        switch NicePassHistoryBlock.machines[UInt32(machine)]?.kind {
        case .charge?: .charge
        case let ride? where (1...3).contains(action): ride
        default: .other
        }
    }

    /// Returns a stop from twenty bits of bytes 5 to 9, or `nil` for 00000.
    private func stop(bits shift: UInt64) -> Place? {
        let stop = UInt32(truncatingIfNeeded: raw.number(at: 5, count: 5, .big) >> shift & 0xF_FFFF)
        guard stop != 0 else { return nil }
        return Place(
            LocalStopCode(system: SystemCode(rawValue: 0x040F), stop: stop, digits: 5))
    }
}
