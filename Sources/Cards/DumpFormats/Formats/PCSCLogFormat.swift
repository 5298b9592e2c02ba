// SPDX-License-Identifier: Apache-2.0

import ByteCodec
package import CardModel

/// PC/SC logs: the command APDUs that readers provide for FeliCa, and their responses, one per line.
///
/// Source: PC/SC part 3 and the readers' manuals. `FF A4 00 01 02 0F 09` selects the service 090F (**low byte first**),
/// `FF B0 00 05 00` reads its block 5, `FF CA 00 00 00` returns the IDm, `FF CA 01 00 00` the PMm. Any text on a line
/// before the bytes (arrows, times, words) is ignored, and so is the meaning that `scriptor` writes behind a response. The
/// log of `opensc-tool -s` has the status before the data, and characters behind the data (its source, `util.c`). The log
/// does not contain the system.
package struct PCSCLogFormat: DumpFormat {
    package init() {}
    package var id: String { "pcsc" }
    package var name: LocalizedText { LocalizedText("PC/SC log", "PC/SC のログ") }

    /// Recognizes a line with one of the two commands.
    package func recognizes(_ source: DumpSource) -> Bool {
        source.head.contains { line in
            switch PCSCCommand(APDULine.bytes(line)) {
            case .selectService, .readBlocks: true
            default: false
            }
        }
    }

    package func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        var log = PCSCLog()
        var lines = 0
        for line in source.lines {
            lines = line.number
            try log.read(line)
        }
        return [try log.card(lastLine: lines)]
    }
}

/// Interprets the commands and responses of a PC/SC log.
struct PCSCLog {
    private var system = ImportedSystem(code: nil)
    private var idm: IDm?
    private var pmm: PMm?
    private var service: ServiceCode?
    private var pending: PCSCCommand?
    /// A response of opensc-tool, whose data follow on lines of their own.
    private var received: (status: UInt16, data: [UInt8], line: TextLine)?

    mutating func read(_ line: TextLine) throws(DocumentError) {
        if let status = OpenSCLine.status(line) {
            try finishReceived()
            received = (status, [], line)
            return
        }
        if received != nil, let data = OpenSCLine.data(line) {
            received?.data += data
            return
        }
        try finishReceived()
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

    private mutating func finishReceived() throws(DocumentError) {
        guard let (status, data, line) = received else { return }
        received = nil
        guard let command = pending else { return }
        pending = nil
        try answer(command, data[...], status: status, line)
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
        guard let service else { throw line.malformed(.serviceSelection) }
        guard data.count % 16 == 0, !data.isEmpty else { throw line.malformed(.paddedBlocks) }
        for place in 0..<data.count / 16 {
            let start = data.startIndex + place * 16
            guard let block = Block(data[start..<start + 16]), let number = UInt16(exactly: Int(first) + place) else {
                throw line.malformed(.blockNumberUpTo, "FFFF")
            }
            // A log can contain several readings, and the card can have changed between them: the last one wins.
            if !system.add(block, at: number, of: service) { continue }
        }
    }

    /// Returns the card, if blocks were read.
    mutating func card(lastLine: Int) throws(DocumentError) -> CardDump {
        try finishReceived()
        let card = ImportedCard(idm: idm, pmm: pmm, complete: false, systems: [system])
        let end = TextLine(number: lastLine, bytes: [])
        return try card.dump(unnamed: end.malformed(.tellingServices))
    }
}

/// A command APDU that PC/SC readers provide for FeliCa.
enum PCSCCommand: Equatable {
    /// `FF A4 00 01 02`, then a service code, low byte first.
    case selectService(ServiceCode)
    /// `FF B0`, then the number of the first block and the length of the response.
    case readBlocks(from: UInt16)
    /// `FF CA 00 00`: the IDm.
    case readIDm
    /// `FF CA 01 00`: the PMm.
    case readPMm
    /// Any other command to the reader.
    case other

    /// Parses a command, or returns `nil` for bytes that are not one.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 4, bytes[0] == 0xFF else { return nil }
        switch (bytes[1], bytes[2], bytes[3], bytes.count) {
        case (0xA4, 0x00, 0x01, 7...8) where bytes[4] == 2:
            self = .selectService(ServiceCode(rawValue: UInt16(bytes[6]) << 8 | UInt16(bytes[5])))
        case (0xB0, let high, let low, 5): self = .readBlocks(from: UInt16(high) << 8 | UInt16(low))
        case (0xCA, 0x00, 0x00, 4...5): self = .readIDm
        case (0xCA, 0x01, 0x00, 4...5): self = .readPMm
        // A block can begin with FF too, and so can a response with the length of a command.
        case (0x00...0xCF, _, _, 5...8): self = .other
        default: return nil
        }
    }
}

/// The bytes at the end of a log line.
enum APDULine {
    /// Returns the bytes after the last word that is not hexadecimal; empty when there are none.
    ///
    /// Bytes can be joined or separated by blanks, colons or hyphens. In a response that begins with `<`, what follows a
    /// colon between blanks is its meaning in words.
    static func bytes(_ line: TextLine) -> [UInt8] {
        var bytes: [UInt8] = []
        var text = line.text[...]
        if text.hasPrefix("<"), let colon = text.firstRange(of: " : ") { text = text[..<colon.lowerBound] }
        for word in text.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == ":" || $0 == "-" }) {
            if let more = try? Hex.decode(word.trimmingSuffix(",")), !more.isEmpty {
                bytes += more
            } else {
                bytes = []
            }
        }
        return bytes
    }
}

extension StringProtocol {
    /// Returns the text without a trailing `suffix`.
    func trimmingSuffix(_ suffix: Character) -> SubSequence {
        last == suffix ? dropLast() : self[...]
    }
}

/// The lines of `opensc-tool -s` that have a response.
enum OpenSCLine {
    private static let bytesPerLine = 16
    /// Sixteen bytes and characters.
    private static let longest = bytesPerLine * 4

    /// The status of a line `Received (SW1=0x90, SW2=0x00)`, with or without a colon.
    static func status(_ line: TextLine) -> UInt16? {
        let text = line.text
        guard text.hasPrefix("Received (SW1=0x") else { return nil }
        let digits = text.split { !$0.isHexDigit && $0 != "x" }.filter { $0.hasPrefix("0x") }.map { $0.dropFirst(2) }
        guard digits.count == 2, let first = UInt8(digits[0], radix: 16), let second = UInt8(digits[1], radix: 16)
        else {
            return nil
        }
        return UInt16(first) << 8 | UInt16(second)
    }

    /// The bytes of a line of data: up to sixteen with a blank after each, then as many characters, which may look like
    /// digits as well.
    static func data(_ line: TextLine) -> [UInt8]? {
        let text = Array(line.bytes.prefix(longest))
        var bytes: [UInt8] = []
        while bytes.count < bytesPerLine {
            let place = bytes.count * 3
            guard let high = text.element(at: place).flatMap(Hex.value),
                let low = text.element(at: place + 1).flatMap(Hex.value),
                text.element(at: place + 2) ?? 0x20 == 0x20
            else { break }
            bytes.append(high << 4 | low)
        }
        if bytes.count == bytesPerLine { return bytes }
        // Characters may look like bytes: there are as many of them as bytes.
        for count in stride(from: bytes.count, to: 0, by: -1) where text.count - count * 3 == count {
            return Array(bytes.prefix(count))
        }
        return bytes.isEmpty ? nil : bytes
    }
}
