// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// OKICA, the card of Okinawa's monorail and buses, system 8FC1.
//
// Certain (twenty records in the tests of TRETJapanNFCReader v2.x; the classes of a payment terminal for OKICA agree):
// 028F is the history of the Cybernetics format, except for the differences listed at ``OkicaHistoryBlock``. One source
// (TRETJapanNFCReader): the names of stations and bus companies. Services 050F and 060B look like gate log and entry
// record; the resemblance is not enough, so they stay raw, as does the block with balance and last charge that the
// terminal reads from an unknown service.

extension CardKind {
    /// OKICA.
    public static let okica = CardKind(rawValue: "okica")
}

/// Decodes OKICA: balance and the last twenty records.
package struct OkicaDecoder: HistoryBalanceDecoder {
    package let kind = CardKind.okica
    package let name = LocalizedText("OKICA", "OKICA（オキカ）")
    /// The twenty blocks of service 028F; no purse is readable without a key.
    package let historyRead = ReadRequest(0x8FC1, 0x028F, 0..<20)
    package let balanceOffset = 10
    package let warnings: [DecodingWarning] = []
    /// Bytes 13 and 14 of a record.
    package let serials: SerialNumbers? = SerialNumbers(bits: 16, countsEntries: true)

    package init() {}

    /// The names of stations and bus operators come from the card's own list.
    package func record(_ block: Block) -> HistoryRecord? { OkicaHistoryBlock(block)?.record }

    package func complete(_ history: inout LocalHistory) { history.takeAmountsFromBalances(steps: 1...2) }
}

/// One block of service 028F: a record of the Cybernetics format with its own stations.
///
/// Unlike there, bytes 6 to 9 are two stations in every record, including purchases, which have neither a time nor a
/// device; the balance has three bytes (10 to 12), little-endian, the running number two (13, 14), big-endian. Byte 15
/// contains the area of each station, as there. Sources: TRETJapanNFCReader, and the classes of a payment terminal for
/// OKICA.
struct OkicaHistoryBlock {
    /// The record without its amount.
    let record: HistoryRecord

    private static let processes = LocalCode.all(of: "okica", .process)

    /// Creates a record, or `nil` for an unused slot: byte 0 is 00.
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

    /// Returns a station, or `nil` for 0000.
    private static func station(_ block: Block, at offset: Int, areaBits: ClosedRange<Int>) -> Place? {
        let code = block.uint16(at: offset, .big)
        guard code != 0 else { return nil }
        return Place(
            LocalStopCode(system: system, area: block[15].bits(areaBits), stop: UInt32(code)))
    }

    /// Returns a bus stop with its company.
    private static func stop(_ place: Place) -> Place? {
        guard case .busStop(let code) = place.code else { return nil }
        return Place(
            LocalStopCode(
                system: system, area: code.area, operatorCode: code.operatorCode, stop: UInt32(code.stop)))
    }
}
