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
            guard let found = passages.firstIndex(where: { isExit($0, of: records[place]) }) else { continue }
            let exit = passages[found]
            passages = passages[(found + 1)...]
            let entry = passages.first.flatMap { isEntry($0, of: records[place]) ? $0 : nil }
            records[place].gateLog = GatePassages(
                entryDate: entry?.date, fare: exit.amount, commuterFare: exit.commuterFare)
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

    private static func isExit(_ event: GateEvent, of ride: HistoryRecord) -> Bool {
        guard !event.isEntry, let amount = ride.amount, let date = event.date, date == ride.date else { return false }
        return event.amount == -amount && isAt(ride.exit, event)
    }

    private static func isEntry(_ event: GateEvent, of ride: HistoryRecord) -> Bool {
        guard event.isEntry, let date = event.date, let last = ride.date else { return false }
        return (date == last || date.next == last) && isAt(ride.entry, event)
    }

    private static func isAt(_ place: Place?, _ event: GateEvent) -> Bool {
        guard case .station(let code)? = place?.code else { return false }
        return code.line == event.line && code.station == event.station
    }
}
