// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Draws the inference that the holder is inside the gates.
enum CyberneticsInsideGates {
    /// Entry with stored fare, and with a commuter pass: the entries that independent decoders agree on.
    private enum Entry {
        static let fare: UInt8 = 0xA0
        static let pass: UInt8 = 0xC0
    }

    /// What the newest passage hints at.
    ///
    /// - Parameters:
    ///   - record: the entry record, `nil` when it was not read.
    ///   - isCounted: whether the card counted a transaction that its history does not hold, `nil` when not known.
    /// - Returns: `nil` when the newest passage is no entry, or when an entry with stored fare did not leave its traces
    ///   in the entry record and in the count.
    static func inference(_ log: CyberneticsGateLog, _ record: EntryRecord?, isCounted: Bool?) -> InsideGates? {
        guard let newest = log.unbroken.first, let date = newest.date, let time = newest.time else { return nil }
        let isWithPass = newest.kind.code == Entry.pass
        guard isWithPass || newest.kind.code == Entry.fare else { return nil }
        let isSameStation = record.map { $0.line == newest.line && $0.station == newest.station }
        if !isWithPass && (isSameStation == false || isCounted == false) { return nil }
        var support: [InsideGates.Support] = []
        if isSameStation == true { support.append(.entryRecord) }
        if isCounted == true { support.append(.transactionNumber) }
        return InsideGates(
            line: newest.line, station: newest.station, stations: newest.stations, date: date, since: time,
            isWithPass: isWithPass,
            support: support)
    }
}
