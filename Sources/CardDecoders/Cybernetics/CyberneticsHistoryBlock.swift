// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// One block of service 090F, by itself: everything but the amount, which needs the next older block.
struct CyberneticsHistoryBlock {
    let raw: Block

    /// A record, or `nil` for an unused slot: byte 0 is 00, whatever the other bytes are.
    init?(_ block: Block) {
        guard block[0] != 0 else { return nil }
        raw = block
    }

    /// The kind of machine.
    var terminal: UInt8 { raw[0] }

    /// What the machine did; bit 7 is a flag ("combined", "other company").
    var process: UInt8 { raw[1] }

    /// Without the flag.
    var plainProcess: UInt8 { process & 0x7F }

    /// Yen after the record, little-endian, never negative.
    var balance: Int { Int(raw.uint16(at: 10, .little)) }

    /// The running number: 24 bits, big-endian. Tools that read sixteen are wrong from 65,536 on.
    var serial: Int { Int(raw.uint24(at: 12, .big)) }

    /// What bytes 6 to 9 are.
    var recordClass: CyberneticsRecordClass { CyberneticsRecordClass(terminal: terminal, process: plainProcess) }

    /// The record.
    ///
    /// - Parameters:
    ///   - amount: what the balances on both sides of the record tell, `nil` when they do not.
    ///   - warning: why they do not.
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
        var process = CyberneticsProcess.value(process)
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
            terminal: CyberneticsTerminal.value(terminal),
            process: process,
            payment: CyberneticsPayment.value(raw[2]),
            gate: CyberneticsGate.value(raw[3]),
            device: recordClass == .purchase ? raw.uint16(at: 8, .big) : nil,
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

    /// A station. What a phone writes here is none of a charge, says the owner of such cards, though it may look like one:
    /// only what a table knows is given. 0-2-253 stands for the phone itself.
    private func place(_ code: StationCode, on date: CalendarDate?, _ stations: some StationNames) -> Place? {
        let place = Place(.station(code), on: date, stations)
        guard terminal == Self.phone else { return place }
        guard place.name?.name != nil else { return nil }
        let isPhone = code == StationCode(area: 0, line: 2, station: 0xFD)
        return isPhone ? place : Place(code: place.code, name: place.name, doubt: .disputed)
    }

    private static let phone: UInt8 = 0x1B

    /// Five bits hour, six bits minute. The last five bits are no seconds: over 42 purchases of 11 cards they take ten
    /// values, none above 15. They stay in the raw bytes.
    private var purchaseTime: ClockTime? {
        let packed = raw.uint16(at: 6, .big)
        return ClockTime(hour: Int(packed.bits(11...15)), minute: Int(packed.bits(5...10)))
    }

    /// Bits 7 and 6 of the region byte.
    private var entryArea: UInt8 { raw[15].bits(6...7) }

    /// Bits 5 and 4 of the region byte.
    private var exitArea: UInt8 { raw[15].bits(4...5) }

    /// No station has line 0 and station 0: where a machine stands in one place only, the other is 0000.
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
