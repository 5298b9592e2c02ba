// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// One block of service 090F by itself: all values except the amount, which needs the next older block.
struct CyberneticsHistoryBlock {
    let raw: Block

    /// Creates a record, or `nil` for an unused slot: byte 0 is 00, regardless of the other bytes.
    init?(_ block: Block) {
        guard block[0] != 0 else { return nil }
        raw = block
    }

    /// The kind of terminal.
    var terminal: UInt8 { raw[0] }

    /// The operation; bit 7 is a flag ("combined", "other company").
    var process: UInt8 { raw[1] }

    /// The operation without the flag.
    var plainProcess: UInt8 { process & 0x7F }

    /// The balance after the record in yen, little-endian, never negative.
    var balance: Int { Int(raw.uint16(at: 10, .little)) }

    /// The running number: 24 bits, big-endian. Tools that read 16 bits are wrong from 65,536 on.
    var serial: Int { Int(raw.uint24(at: 12, .big)) }

    /// The meaning of bytes 6 to 9.
    var recordClass: CyberneticsRecordClass { CyberneticsRecordClass(terminal: terminal, process: plainProcess) }

    /// Returns the record.
    ///
    /// - Parameters:
    ///   - amount: the amount that follows from the balances on both sides of the record, or `nil`.
    ///   - warning: why there is no amount.
    @inline(__always)
    func record(
        _ stations: some StationNames, amount: Int? = nil, _ warning: DecodingWarning? = nil
    ) -> HistoryRecord {
        let date = CalendarDate(packed: raw.uint16(at: 4, .big))
        let recordClass = recordClass
        let time = recordClass == .purchase ? purchaseTime : nil
        var (entry, exit): (Place?, Place?) = (nil, nil)
        if recordClass == .rail {
            if let code = station(at: 6, area: entryArea) { entry = place(code, on: date, stations) }
            if let code = station(at: 8, area: exitArea) { exit = place(code, on: date, stations) }
        } else if recordClass == .bus, let code = busStop {
            entry = Place(.busStop(code), on: date, stations)
        }
        var kind = CyberneticsRecordKind.kind(recordClass, process: plainProcess)
        var process = DecoderTables.transitProcesses[process]
        if plainProcess == Self.bus, let amount, amount > 0 { (kind, process) = (.point, Self.pointRedemption) }
        var warnings: [DecodingWarning] = []
        if date == nil { warnings.append(.invalidDate) }
        if recordClass == .purchase, time == nil { warnings.append(.invalidTime) }
        if let warning { warnings.append(warning) }
        return HistoryRecord(
            serial: serial,
            date: date,
            time: time,
            kind: kind,
            terminal: DecoderTables.transitTerminals[terminal],
            process: process,
            payment: DecoderTables.transitPayments[raw[2]],
            gate: DecoderTables.transitGates[raw[3]],
            device: recordClass == .purchase ? DeviceNumber(rawValue: raw.uint16(at: 8, .big)) : nil,
            entry: entry,
            exit: exit,
            amount: amount,
            balance: balance,
            warnings: warnings,
            raw: raw)
    }

    private static let bus: UInt8 = 0x0D

    /// No ride raises the balance; ICCardManager, used at an office in Fukuoka, reads this as a redemption of points.
    private static let pointRedemption = CodedValue(
        code: bus, name: LocalizedText("point redemption", "ポイント還元"), doubt: .oneSource)

    /// Returns a station.
    ///
    /// On a charge, the value written by a phone is not a station, according to the owner of such cards, although it
    /// can look like one: only codes known to a table are reported. 0-2-253 denotes the phone itself.
    private func place(_ code: StationCode, on date: CalendarDate?, _ stations: some StationNames) -> Place? {
        let place = Place(.station(code), on: date, stations)
        guard terminal == Self.phone else { return place }
        guard place.name?.name != nil else { return nil }
        let isPhone = code == StationCode(area: 0, line: 2, station: 0xFD)
        return isPhone ? place : Place(code: place.code, name: place.name, doubt: .disputed)
    }

    private static let phone: UInt8 = 0x1B

    /// Five bits hour, six bits minute.
    ///
    /// The last five bits are not seconds: over the purchases on a dozen cards they are 0, 1, 3 to 8, 10 to 13 or 15.
    /// They stay in the raw bytes.
    private var purchaseTime: ClockTime? {
        let packed = raw.uint16(at: 6, .big)
        return ClockTime(hour: Int(packed.bits(11...15)), minute: Int(packed.bits(5...10)))
    }

    /// Bits 7 and 6 of the region byte.
    private var entryArea: UInt8 { raw[15].bits(6...7) }

    /// Bits 5 and 4 of the region byte.
    private var exitArea: UInt8 { raw[15].bits(4...5) }

    /// No station has line 0 and station 0; a terminal with a single location has 0000 for the other one.
    private func station(at offset: Int, area: UInt8) -> StationCode? {
        guard raw.uint16(at: offset, .big) != 0 else { return nil }
        return StationCode(area: area, line: raw[offset], station: raw[offset + 1])
    }

    private var busStop: BusStopCode? {
        let code = BusStopCode(
            area: entryArea, operatorCode: raw.uint16(at: 6, .big), stop: raw.uint16(at: 8, .big))
        return code.operatorCode == 0 && code.stop == 0 ? nil : code
    }
}

/// The history in 090F: block 0 is the newest record, the first unused slot ends the list.
struct CyberneticsHistory {
    /// The records, newest first, with amounts where they can be determined.
    private(set) var records: [HistoryRecord] = []
    /// The anomalies found in the history as a whole.
    private(set) var warnings: [DecodingWarning] = []

    /// A record and its relation to the next older one.
    private struct Link {
        let block: CyberneticsHistoryBlock
        let olderWasRead: Bool
    }

    #if compiler(>=6.3)
        @specialized(where Names == ShippedStations)
        @specialized(where Names == LayeredStationNames)
    #endif
    init<Names: StationNames>(_ service: ServiceDump, _ stations: Names) {
        let sequence = BlockSequence(service) { CyberneticsHistoryBlock($0) == nil }
        var links: [Link] = []
        links.reserveCapacity(sequence.entries.count)
        for entry in sequence.entries {
            guard let block = CyberneticsHistoryBlock(entry.block) else { continue }
            links.append(Link(block: block, olderWasRead: entry.olderWasRead))
        }
        // A text that joins two reads of a card contains some blocks twice; a card never does, since its serials
        // decrease.
        if zip(links, links.dropFirst()).contains(where: { $0.block.serial <= $1.block.serial }) {
            var seen: Set<Block> = []
            let once = links.filter { seen.insert($0.block.raw).inserted }
            if once.count < links.count { warnings = [.duplicateRecord] }
            links = once
        }
        var records: [HistoryRecord] = []
        records.reserveCapacity(links.count)
        for (place, link) in links.enumerated() {
            let older = place + 1 < links.count ? links[place + 1].block : nil
            let (amount, reason) = CyberneticsHistory.amount(link.block, older: older, olderWasRead: link.olderWasRead)
            records.append(link.block.record(stations, amount: amount, reason))
        }
        self.records = records
        if sequence.isIncomplete { warnings.append(.historyIncomplete) }
    }

    /// Returns the difference to the next older balance, when the serials show that no record lies between.
    ///
    /// A ride advances the serial by two (entry and exit), other transactions by one; around a charge inside the gates
    /// it can be either. So a step of one or two is the next record, and a larger step means that records are lost. The
    /// oldest record's amount is unknown, except that the first balance of a new card is its amount.
    ///
    /// - Returns: the amount, or `nil` and, where there is one, the reason why it is unknown.
    private static func amount(
        _ block: CyberneticsHistoryBlock, older: CyberneticsHistoryBlock?, olderWasRead: Bool
    ) -> (Int?, DecodingWarning?) {
        guard let older else {
            return (block.plainProcess == 0x07 ? block.balance : nil, nil)
        }
        guard olderWasRead else { return (nil, .olderRecordMissing) }
        switch (block.serial - older.serial) & 0xFF_FFFF {
        case 1, 2: return (block.balance - older.balance, nil)
        case 3..<0x80_0000: return (nil, .serialGap)
        default: return (nil, .serialOrder)
        }
    }
}

/// Matches the gate log with the rides of the history.
///
/// A passage belongs to a ride when it is an exit on the ride's day, at the ride's last station, and deducted the
/// ride's fare; the entry is the passage before it, when that is at the ride's first station, on that day or the day
/// before. Both lists are newest first and without gaps over the compared range, so among identical rides the newest
/// gets the newest passage.
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
            records[place].gateLog = GateTimes(
                entryDate: entry?.date, fare: exit.amount, settlement: exit.settlement)
            records[place].time = exit.time
            records[place].entryTime = entry?.time
        }
    }

    /// Older rides can be missing behind such a record, and their passages would be assigned to other rides.
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
        code == event.code.inArea(code.area)
    }
}

/// The meaning of bytes 6 to 9 of a record; the raw values are those of the tables.
enum CyberneticsRecordClass: String, Sendable {
    /// Two stations, or one and 0000.
    case rail
    /// An operator and a stop.
    case bus
    /// A time and the number of a shop's terminal; they can look like stations.
    case purchase

    /// The class by terminal and process: a purchase when either says so, otherwise a bus record when either says so.
    init(terminal: UInt8, process: UInt8) {
        switch (
            DecoderTables.transitTerminals.classes[Int(terminal)], DecoderTables.transitProcesses.classes[Int(process)]
        ) {
        case (.purchase, _), (_, .purchase): self = .purchase
        case (.bus, _), (_, .bus): self = .bus
        default: self = .rail
        }
    }
}

/// The kind of a record, by class and process.
enum CyberneticsRecordKind {
    static func kind(_ recordClass: CyberneticsRecordClass, process: UInt8) -> RecordKind {
        switch (recordClass, DecoderTables.transitProcesses.kinds[Int(process)]) {
        case (.purchase, nil), (.purchase, .rail): .purchase
        case (.bus, nil), (.bus, .rail): .bus
        case (.rail, nil): .other
        case (_, let kind?): kind
        }
    }
}
