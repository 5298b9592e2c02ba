// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// Service 108F: the last three passages through gates, newest first; an all-zero block is unused.
///
/// Byte 1 (intermediate gate) is known from one source only, suica-viewer; bytes 12 to 15 are disputed. Sources:
/// suica-viewer, Metrodroid, TRETJapanNFCReader; the amounts equal those of 090F in published dumps.
struct CyberneticsGateLog {
    /// The passages, newest first.
    private(set) var events: [GateEvent]
    /// The number of passages before the first block that was not read.
    private let unbrokenCount: Int

    /// The passages before the first block that was not read: no other passage lies between any two of these.
    var unbroken: ArraySlice<GateEvent> { events.prefix(unbrokenCount) }

    init(_ service: ServiceDump) {
        let entries = BlockSequence(service) { $0.isZero }.entries
        events = entries.map { Self.event($0.block) }
        let hole = entries.firstIndex { !$0.olderWasRead }.map { $0 + 1 } ?? entries.count
        unbrokenCount = service.blocks[0] == nil ? 0 : hole
    }

    /// Looks up the stations of the passages.
    mutating func name(_ places: CyberneticsStations) {
        for index in events.indices {
            let event = events[index]
            events[index].stations = places.places(event.code, on: event.date)
        }
    }

    private static func event(_ block: Block) -> GateEvent {
        GateEvent(
            kind: DecoderTables.transitGateEvents[block[0]],
            code: LineStationCode(rawValue: block.uint16(at: 2, .big)),
            device: DeviceNumber(rawValue: block.uint16(at: 4, .big)),
            date: CalendarDate(packed: block.uint16(at: 6, .big)),
            time: ClockTime(decimalHour: block[8], minute: block[9]),
            amount: Int(block.uint16(at: 10, .little)),
            intermediate: block[1],
            settlement: GateSettlement(block),
            raw: block)
    }
}

/// The two blocks of service 10CB.
///
/// Bytes 2, 3 and 8 of the first and 6 and 11 to 13 of the second stay raw.
enum CyberneticsEntryRecord {
    /// Returns the record, or `nil` when the first block was not read or contains no station.
    static func record(_ service: ServiceDump) -> EntryRecord? {
        guard let first = service.blocks[0], first.uint16(at: 0, .big) != 0 else { return nil }
        let second = service.blocks[1]
        return EntryRecord(
            code: LineStationCode(rawValue: first.uint16(at: 0, .big)),
            intermediate: second.flatMap { $0.isZero ? nil : intermediate($0) },
            raw: [first] + (second.map { [$0] } ?? []))
    }

    private static func intermediate(_ block: Block) -> EntryRecord.Intermediate {
        EntryRecord.Intermediate(
            date: CalendarDate(packed: block.uint16(at: 0, .big)),
            entryTime: ClockTime(decimalHour: block[2], minute: block[3]),
            entryStation: LineStationCode(rawValue: block.uint16(at: 4, .big)),
            exitTime: ClockTime(decimalHour: block[7], minute: block[8]),
            exitStation: LineStationCode(rawValue: block.uint16(at: 9, .big)))
    }
}

/// Infers whether the holder is inside the gates.
enum CyberneticsInsideGates {
    /// Entry with stored fare, and with a commuter pass: the entries on which independent decoders agree.
    private enum Entry {
        static let fare: UInt8 = 0xA0
        static let pass: UInt8 = 0xC0
    }

    /// Returns the inference from the newest passage.
    ///
    /// - Parameters:
    ///   - record: the entry record, `nil` when it was not read.
    ///   - isCounted: whether the card counted a transaction that is missing from its history, `nil` when unknown.
    /// - Returns: `nil` when the newest passage is not an entry, or when an entry with stored fare left no trace in the
    ///   entry record and in the count.
    static func inference(_ log: CyberneticsGateLog, _ record: EntryRecord?, isCounted: Bool?) -> InsideGates? {
        guard let newest = log.unbroken.first, let date = newest.date, let time = newest.time else { return nil }
        let isWithPass = newest.kind.code == Entry.pass
        guard isWithPass || newest.kind.code == Entry.fare else { return nil }
        let isSameStation = record.map { $0.code == newest.code }
        if !isWithPass && (isSameStation == false || isCounted == false) { return nil }
        var support: [InsideGates.Support] = []
        if isSameStation == true { support.append(.entryRecord) }
        if isCounted == true { support.append(.transactionNumber) }
        return InsideGates(
            code: newest.code, stations: newest.stations, date: date, since: time,
            isWithPass: isWithPass,
            support: support)
    }
}

/// Finds the stations for a line and a station number without an area, as in the gate log and the entry record.
struct CyberneticsStations {
    private let names: any StationNames
    /// The stations of the rides, from which the area follows.
    private let stops: [(date: CalendarDate, station: StationCode)]

    /// - Parameter history: the records whose rides can determine the area.
    init(names: any StationNames, history: [HistoryRecord]) {
        self.names = names
        var stops: [(date: CalendarDate, station: StationCode)] = []
        // By index: an element of a loop would be a copy of the whole record.
        for index in history.indices {
            guard let date = history[index].date else { continue }
            for case .station(let code)? in [history[index].entry?.code, history[index].exit?.code] {
                stops.append((date, code))
            }
        }
        self.stops = stops
    }

    /// Returns the candidate stations.
    ///
    /// These are the stations that rides of the day pass through, with or without a name; without such a ride, those
    /// that have a name.
    func places(_ code: LineStationCode, on date: CalendarDate?) -> [Place] {
        var areas: Set<UInt8> = []
        for stop in stops where stop.date == date && stop.station == code.inArea(stop.station.area) {
            areas.insert(stop.station.area)
        }
        let isProven = !areas.isEmpty
        return (isProven ? areas.sorted() : [0, 1, 2, 3]).compactMap { area in
            let place = Place(.station(code.inArea(area)), on: date, names)
            return isProven || place.name?.name != nil ? place : nil
        }
    }
}
