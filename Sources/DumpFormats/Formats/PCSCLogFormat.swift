// SPDX-License-Identifier: Apache-2.0

import ByteCodec
public import CardModel

/// Logs of PC/SC: the command APDUs that readers offer for FeliCa, and their answers, each on a line of its own.
///
/// Facts: PC/SC part 3 and the readers' manuals. `FF A4 00 01 02 0F 09` selects the service 090F (**low byte first**),
/// `FF B0 00 05 00` reads its block 5, `FF CA 00 00 00` asks for the IDm, `FF CA 01 00 00` for the PMm. What stands on a
/// line before the bytes (arrows, times, words) is passed over. The log does not name the system.
public struct PCSCLogFormat: DumpFormat {
    /// The format.
    public init() {}
    /// `pcsc`.
    public var id: String { "pcsc" }
    /// Its name.
    public var name: LocalizedText { LocalizedText("PC/SC log", "PC/SC のログ") }

    /// A line with one of the two commands.
    public func recognises(_ source: DumpSource) -> Bool {
        source.head.contains { line in
            switch PCSCCommand(APDULine.bytes(line)) {
            case .selectService, .readBlocks: true
            default: false
            }
        }
    }

    /// One card.
    public func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        var log = PCSCLog()
        var lines = 0
        for line in source.lines {
            lines = line.number
            try log.read(line)
        }
        return [try log.card(lastLine: lines)]
    }
}
