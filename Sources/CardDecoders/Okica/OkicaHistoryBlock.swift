// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// One block of service 028F: a record of the Cybernetics format with stations of its own.
///
/// Unlike there, bytes 6 to 9 are two stations in every record, purchases too, which have neither a time nor a device; the
/// balance has three bytes (10 to 12), little-endian, the running number two (13, 14), big-endian. Byte 15 holds the area
/// of each station, as there. Sources: TRETJapanNFCReader, and the classes of a payment terminal for OKICA.
struct OkicaHistoryBlock {
    /// The record but for its amount.
    let record: HistoryRecord

    private static let processes = DecoderTables.localCodes["okica", .process]

    /// A record, or `nil` for an unused slot: byte 0 is 00.
    init?(_ block: Block) {
        guard let common = CyberneticsHistoryBlock(block) else { return nil }
        var record = common.record(NoStationNames())
        record.serial = Int(block.uint16(at: 13, .big))
        record.balance = Int(block.uint24(at: 10, .little))
        if let process = OkicaHistoryBlock.processes[UInt32(common.plainProcess)] {
            record.process = CodedValue(code: common.process, name: process.name)
            record.kind = process.kind ?? record.kind
        }
        if common.recordClass == .bus {
            record.entry = record.entry.flatMap(OkicaHistoryBlock.stop)
        } else {
            (record.time, record.device) = (nil, nil)
            record.warnings.removeAll { $0 == .invalidTime }
            record.entry = OkicaHistoryBlock.station(block, at: 6, areaBits: 6...7)
            record.exit = OkicaHistoryBlock.station(block, at: 8, areaBits: 4...5)
        }
        self.record = record
    }

    private static let system = SystemCode(rawValue: 0x8FC1)

    /// A station; 0000 is none.
    private static func station(_ block: Block, at offset: Int, areaBits: ClosedRange<Int>) -> Place? {
        let code = block.uint16(at: offset, .big)
        guard code != 0 else { return nil }
        return DecoderTables.localStops.place(
            LocalStopCode(system: system, area: block[15].bits(areaBits), stop: UInt32(code)))
    }

    /// A stop of a bus with its company.
    private static func stop(_ place: Place) -> Place? {
        guard case .busStop(let code) = place.code else { return nil }
        return DecoderTables.localStops.place(
            LocalStopCode(
                system: system, area: code.area, operatorCode: code.operatorCode, stop: UInt32(code.stop)))
    }
}
