// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// One block of service 028F: a record of the Cybernetics format with a shorter serial and stations of its own.
struct OkicaHistoryBlock {
    /// The record but for its amount.
    let record: HistoryRecord

    /// A record, or `nil` for an unused slot: byte 0 is 00.
    init?(_ block: Block) {
        guard var record = CyberneticsHistoryBlock(block)?.record(NoStationNames()) else { return nil }
        record.serial = Int(block.uint16(at: 13, .big))
        record.entry = record.entry.map(OkicaHistoryBlock.local)
        record.exit = record.exit.map(OkicaHistoryBlock.local)
        self.record = record
    }

    /// The same place by the numbers of OKICA; byte 15, which tells areas elsewhere, means nothing here.
    private static func local(_ place: Place) -> Place {
        let system = SystemCode(rawValue: 0x8FC1)
        return switch place.code {
        case .station(let code):
            DecoderTables.localStops.place(
                LocalStopCode(system: system, stop: UInt32(code.line) << 8 | UInt32(code.station)))
        case .busStop(let code):
            DecoderTables.localStops.place(
                LocalStopCode(system: system, operatorCode: code.operatorCode, stop: UInt32(code.stop)))
        case .local: place
        }
    }
}
