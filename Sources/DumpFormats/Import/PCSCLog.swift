// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel

/// Follows the commands and answers of a PC/SC log.
struct PCSCLog {
    private var system = ImportedSystem(code: nil)
    private var idm: IDm?
    private var pmm: PMm?
    private var service: ServiceCode?
    private var pending: PCSCCommand?

    mutating func read(_ line: TextLine) throws(DocumentError) {
        let bytes = APDULine.bytes(line)
        guard bytes.count >= 2 else { return }
        if let command = PCSCCommand(bytes) {
            pending = command
        } else if let command = pending {
            pending = nil
            try answer(
                command, bytes.dropLast(2),
                status: UInt16(bytes[bytes.count - 2]) << 8 | UInt16(bytes[bytes.count - 1]), line)
        }
    }

    private mutating func answer(
        _ command: PCSCCommand, _ data: ArraySlice<UInt8>, status: UInt16, _ line: TextLine
    ) throws(DocumentError) {
        guard status == 0x9000 else {
            if case .selectService(let code) = command {
                system.note(code, state: .refused(status: status))
                service = nil
            }
            return
        }
        switch command {
        case .selectService(let code):
            system.note(code)
            service = code
        case .readBlocks(let first): try add(data, from: first, line)
        case .readIDm: idm = IDm(data) ?? idm
        case .readPMm: pmm = PMm(data) ?? pmm
        case .other: break
        }
    }

    private mutating func add(_ data: ArraySlice<UInt8>, from first: UInt16, _ line: TextLine) throws(DocumentError) {
        guard let service else { throw line.malformed("a command that selects a service before blocks are read") }
        guard data.count % 16 == 0, !data.isEmpty else { throw line.malformed("blocks of 16 bytes, then 90 00") }
        for place in 0..<data.count / 16 {
            let start = data.startIndex + place * 16
            guard let block = Block(data[start..<start + 16]), let number = UInt16(exactly: Int(first) + place) else {
                throw line.malformed("a block number of at most FFFF")
            }
            // A log may hold several readings, and the card may have changed between them: the last one counts.
            if !system.add(block, at: number, of: service) { continue }
        }
    }

    /// The card, when blocks were read.
    func card(lastLine: Int) throws(DocumentError) -> CardDump {
        let card = ImportedCard(idm: idm, pmm: pmm, complete: false, systems: [system])
        let end = TextLine(number: lastLine, bytes: [])
        return try card.dump(unnamed: end.malformed("services that tell the system before the end of the log"))
    }
}
