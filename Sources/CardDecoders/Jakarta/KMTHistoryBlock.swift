// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// One block of service 200F; all numbers are big-endian.
///
/// Seconds since 2000-01-01 00:00 in Jakarta (0 to 3), amount (4 to 7), gate or station (8, 9), kind (12), running
/// number (13 to 15). The one station of a ride is that of the exit (Metrodroid, FareBot); of a top-up, where it was made. Metrodroid takes six hours off the times before 2019; nobody else says so.
struct KMTHistoryBlock {
    private static let processes = DecoderTables.localCodes["kmt", .process]

    let raw: Block

    var record: HistoryRecord {
        let process = KMTHistoryBlock.processes[UInt32(raw[12])]
        let kind = process?.kind ?? .other
        let seconds = raw.uint32(at: 0, .big)
        let date = CalendarDate(daysSince2000: UInt16(truncatingIfNeeded: seconds / 86_400))
        let amount = Int(raw.uint32(at: 4, .big))
        let gate = raw.uint16(at: 8, .big)
        let place =
            gate == 0
            ? nil
            : DecoderTables.localStops.place(
                LocalStopCode(system: SystemCode(rawValue: 0x90B7), stop: UInt32(gate)))
        return HistoryRecord(
            serial: Int(raw.uint24(at: 13, .big)), date: date,
            time: ClockTime(secondsSinceMidnight: seconds % 86_400), kind: kind,
            process: CodedValue(code: raw[12], name: process?.name),
            entry: kind == .rail ? nil : place, exit: kind == .rail ? place : nil,
            amount: kind == .other ? nil : kind == .rail ? -amount : amount,
            warnings: date.year < 2019 ? [.clockDisputed] : [], raw: raw)
    }
}
