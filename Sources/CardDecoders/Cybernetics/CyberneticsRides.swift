// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Joins the gate log to the rides of the history.
///
/// A passage belongs to a ride when it is an exit on the ride's day, at the ride's last station, and took off what the
/// ride cost; the entry is the passage before it, when that is at the ride's first station, on that day or the day
/// before. Both lists are newest first and without holes as far as they are compared, so of rides that are alike the
/// newest has the newest passage.
enum CyberneticsRides {
    static func join(_ log: CyberneticsGateLog, to records: inout [HistoryRecord]) {
        var passages = log.unbroken
        for place in records.indices {
            guard !passages.isEmpty else { return }
            if records[place].warnings.contains(where: isBreak) { return }
            guard records[place].kind == .rail else { continue }
            guard let amount = records[place].amount, let date = records[place].date,
                let last = station(records[place].exit),
                let found = passages.firstIndex(where: { isExit($0, at: last, on: date, amount: amount) })
            else { continue }
            let exit = passages[found]
            passages = passages[(found + 1)...]
            let first = station(records[place].entry)
            let entry = passages.first.flatMap { isEntry($0, at: first, before: date) ? $0 : nil }
            records[place].gateLog = GatePassages(
                entryDate: entry?.date, fare: exit.amount, settlement: exit.settlement)
            records[place].time = exit.time
            records[place].entryTime = entry?.time
        }
    }

    /// Older rides may be missing behind such a record, and a passage of one of them would be given to another.
    private static func isBreak(_ warning: DecodingWarning) -> Bool {
        switch warning {
        case .serialGap, .serialOrder, .olderRecordMissing: true
        default: false
        }
    }

    private static func isExit(_ event: GateEvent, at station: StationCode, on date: CalendarDate, amount: Int) -> Bool
    {
        !event.isEntry && event.date == date && event.amount == -amount && isAt(station, event)
    }

    private static func isEntry(_ event: GateEvent, at station: StationCode?, before last: CalendarDate) -> Bool {
        guard event.isEntry, let date = event.date, let station else { return false }
        return (date == last || date.next == last) && isAt(station, event)
    }

    private static func station(_ place: Place?) -> StationCode? {
        guard case .station(let code)? = place?.code else { return nil }
        return code
    }

    private static func isAt(_ code: StationCode, _ event: GateEvent) -> Bool {
        code.line == event.line && code.station == event.station
    }
}
