// SPDX-License-Identifier: Apache-2.0

import ByteCodec
package import CardModel

extension DumpFileFormat {
    /// The file of a Flipper Zero.
    public static let flipper = DumpFileFormat(known: "flipper")
}

/// Flipper Zero's `.nfc` files, versions 2 to 4, of FeliCa cards, of MIFARE Classic, and of MIFARE Ultralight and NTAG.
///
/// FeliCa cards are in data format 1 (every card as a Lite) or 2. Sources: the files of the Flipper firmware
/// (`lib/nfc/protocols/felica`, `documentation/file_formats/NfcFileFormats.md`) and the sample of data format 2 in
/// FareBot. Codes are in the usual notation, high byte first; the attribute beside each code is checked against it.
package struct FlipperFormat: WritableDumpFormat {
    package init() {}
    package var id: String { "flipper" }
    package var name: LocalizedText { LocalizedText("Flipper Zero .nfc", "Flipper Zero の .nfc") }

    /// Recognizes the first line, which names the kind of file.
    package func recognizes(_ source: DumpSource) -> Bool {
        source.head.first { !$0.text.isEmpty }?.value(of: "Filetype") == "Flipper NFC device"
    }

    package func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        let type = source.lines.lazy.compactMap { $0.value(of: "Device type") }.first
        if type == FlipperClassic.deviceType {
            var reader = FlipperClassic()
            for line in source.lines { try reader.read(line) }
            return [try reader.finish()]
        }
        if let type, FlipperTagReader.reads(type) {
            var reader = FlipperTagReader()
            for line in source.lines { try reader.read(line) }
            return [try reader.finish()]
        }
        var reader = FlipperReader()
        for line in source.lines { try reader.read(line) }
        return [try reader.finish()]
    }

    /// Writes a MIFARE Classic in data format 2; of FeliCa cards data format 1 for a FeliCa Lite or Lite-S whose blocks all fit in it, otherwise data format 2.
    package func write(_ dump: CardDump) throws(DumpWritingError) -> [UInt8] {
        if let memory = dump.classic { return Array(try FlipperClassic.text(memory, dump.card).utf8) }
        guard dump.card.technology == .felica else { throw .notSupported(dump.card.technology) }
        let idm = try dump.idmToWrite()
        guard let pmm = dump.pmmToWrite else { throw .noPMm }
        try dump.checkCodesAreUnique(systems: false)
        let id = Hex.encode(idm.bytes, uppercase: true, separator: " ")
        let blocks = FlipperLite.blocks(of: dump)
        var text = """
            Filetype: Flipper NFC device
            Version: 4
            # Device type can be ISO14443-3A, ISO14443-3B, ISO14443-4A, ISO14443-4B, ISO15693-3, FeliCa, …
            Device type: FeliCa
            # UID is common for all formats
            UID: \(id)
            # FeliCa specific data
            Data format version: \(blocks == nil ? 2 : 1)
            Manufacture id: \(id)
            Manufacture parameter: \(Hex.encode(pmm.bytes, uppercase: true, separator: " "))

            """
        text += blocks.map { FlipperLite.comments(dump) + FlipperLite.text($0) } ?? FlipperStandardText(dump).text
        return Array(text.utf8)
    }
}

/// The part of a Flipper file in data format 2 with systems, areas, services and blocks.
///
/// The file has one IDm and one PMm; those of each system are written as comments, which the Flipper ignores.
struct FlipperStandardText {
    private let dump: CardDump

    init(_ dump: CardDump) {
        self.dump = dump
    }

    var text: String {
        var text = """
            IC Type: FeliCa Standard

            # Felica Standard specific data
            System found: \(dump.systems.count)

            """
        for (number, system) in dump.systems.enumerated() {
            let place = Hex.encode(number, digits: 2)
            text += "\n\nSystem \(place): \(system.systemCode)\n"
            if !system.assumed.contains(.idm) {
                text += "# System \(place) IDm: \(system.idm.description.uppercased())\n"
            }
            if !system.assumed.contains(.pmm) {
                text += "# System \(place) PMm: \(system.pmm.description.uppercased())\n"
            }
            text += areas(of: system) + services(of: system) + blocks(of: system)
        }
        return text
    }

    private func areas(of system: SystemDump) -> String {
        var text = "\nArea found: \(system.areas.count)\n"
        for (number, area) in system.areas.enumerated() {
            let codes = system.services.map(\.code.rawValue)
            let inside = codes.indices.filter { codes[$0] >= area.start.rawValue && codes[$0] <= area.end.rawValue }
            let first = Hex.encode(inside.first ?? codes.count { $0 < area.start.rawValue }, digits: 3)
            let last = Hex.encode(inside.last ?? 0, digits: 3)
            text += "Area \(Hex.encode(number, digits: 3)): | Code \(area.start) | Services #\(first)-#\(last) |\n"
        }
        return text
    }

    private func services(of system: SystemDump) -> String {
        var text = "\nService found: \(system.services.count)\n"
        for (number, service) in system.services.enumerated() {
            let code = service.code
            text += "Service \(Hex.encode(number, digits: 3)): | Code \(code) "
            text += "| Attrib. \(Hex.encode(code.attribute, digits: 2)) "
            text += "| \(code.requiresAuthentication ? "Private" : "Public ") | \(kind(code)) | \(access(code)) |\n"
        }
        return text
    }

    private func blocks(of system: SystemDump) -> String {
        let blocks = system.services.flatMap { service in service.blocks.map { (service.code, $0) } }
        var text = "\nPublic blocks read: \(blocks.count)\n"
        for (place, (code, (number, block))) in blocks.enumerated() {
            let index = Hex.encode(number, digits: number > 0xFF ? 4 : 2)
            let bytes = Hex.encode(block.bytes, uppercase: true, separator: " ")
            let digits = place > 0xFFFF ? 8 : 4
            text += "Block \(Hex.encode(place, digits: digits)): "
            text += "| Service code \(code) | Block index \(index) | Data: \(bytes) |\n"
        }
        return text
    }

    private func kind(_ code: ServiceCode) -> String {
        switch code.kind {
        case .random: "Random"
        case .cyclic: "Cyclic"
        case .purse: "Purse "
        case nil: "?     "
        }
    }

    private func access(_ code: ServiceCode) -> String {
        switch code.access {
        case .readWrite: "Read/Write"
        case .readOnly: "Read Only "
        case .direct: "Direct    "
        case .cashback: "Cashback  "
        case .decrement: "Decrement "
        case nil: "?         "
        }
    }
}

/// The numbers of systems, areas, services and blocks that a Flipper file announces and contains.
///
/// A truncated file contains fewer than announced.
struct FlipperCounts {
    var systems = 0
    var areas = 0
    var services = 0
    var blocks = 0
    private var announced: [String: Int] = [:]

    mutating func note(_ name: String, _ value: String, _ line: TextLine) throws(DocumentError) {
        guard let count = Int(value), (0...1_000_000).contains(count) else { throw line.malformed(.count) }
        announced[name] = count
    }

    /// Checks the counts of one system, and begins the next.
    mutating func endSystem(_ line: TextLine) throws(DocumentError) {
        try check("Area found", areas, .areasBefore, line)
        try check("Service found", services, .servicesBefore, line)
        try check("Public blocks read", blocks, .blocksBefore, line)
        (areas, services) = (0, 0)
        // The blocks of data format 1 belong to no system and are counted through to the end of the file.
        if announced["Blocks total"] == nil { blocks = 0 }
    }

    /// Checks the counts of the whole file.
    mutating func endFile(_ line: TextLine) throws(DocumentError) {
        try check("System found", systems, .systemsBefore, line)
        try check("Blocks total", blocks, .blocksBefore, line)
    }

    private mutating func check(_ name: String, _ count: Int, _ what: DocumentError.Expectation.Code, _ line: TextLine)
        throws(DocumentError)
    {
        guard let expected = announced.removeValue(forKey: name), count < expected else { return }
        throw line.malformed(what, "\(expected)", "\(count)")
    }
}

/// The blocks of a FeliCa Lite or Lite-S, as data format 1 stores those of every card.
enum FlipperLite {
    /// The block numbers in file order.
    ///
    /// S_PAD0–13, REG, RC, MAC, ID, D_ID, SER_C, SYS_C, CKV, CK, MC, WCNT, MAC_A, STATE, CRC_CHECK.
    static let blockNumbers: [UInt16] =
        Array(0x00...0x0E) + Array(0x80...0x88) + Array(0x90...0x92) + [0xA0]

    /// The service used to read the blocks.
    static let service = ServiceCode(rawValue: 0x000B)

    /// Returns whether a card is a FeliCa Lite, Lite-S or Link.
    ///
    /// Judged by its IC code (RC-S965, RC-S966, RC-S967; nfcpy, felica-tool), or by a register that other cards lack.
    static func isProven(_ pmm: PMm?, _ blocks: some Sequence<UInt16>) -> Bool {
        pmm.map { (0xF0...0xF2).contains($0.icType) } ?? false || blocks.contains { $0 >= 0x80 }
    }

    /// Returns the blocks of a dump if data format 1 can hold all of them, otherwise `nil`.
    ///
    /// The Flipper treats every card with such an IC as one with these blocks. Its NDEF system is a view of the same
    /// memory, so a dump in which that system was not read separately fits too.
    static func blocks(of dump: CardDump) -> BlockTable? {
        guard let system = dump.systems.first, system.systemCode == .lite,
            dump.systems.dropFirst().allSatisfy({ isSecondView($0, of: system) }), dump.systems.count <= 2,
            let blocks = system.service(service)?.blocks, blocks.numbers.allSatisfy(blockNumbers.contains),
            isProven(dump.pmmToWrite, blocks.numbers), !system.assumed.contains(.systemCode),
            system.services.allSatisfy({ $0.code == service || $0.blocks.isEmpty })
        else { return nil }
        return blocks
    }

    /// Whether a system is the NDEF view of the same memory, without blocks of its own.
    private static func isSecondView(_ system: SystemDump, of lite: SystemDump) -> Bool {
        system.systemCode == .ndef && system.idm == lite.idm && system.pmm == lite.pmm && system.areas.isEmpty
            && system.services.allSatisfy(\.blocks.isEmpty)
    }

    /// Returns the systems with their services as comments, which the Flipper ignores: data format 1 has neither.
    static func comments(_ dump: CardDump) -> String {
        dump.systems.map { system in
            let codes = system.services.map { " \($0.code)" }.joined()
            return "# System \(system.systemCode) services:\(codes)\n"
        }.joined()
    }

    /// Returns the part of the file with the blocks.
    ///
    /// A block that was not read is written as zeros with the status flags FF FF, which no card returns for a single
    /// block.
    static func text(_ blocks: BlockTable) -> String {
        var text = "Blocks total: \(blockNumbers.count)\nBlocks read: \(blocks.count)\n"
        for (place, number) in blockNumbers.enumerated() {
            let block = blocks[number]
            let status: [UInt8] = block == nil ? [0xFF, 0xFF] : [0, 0]
            let bytes = status + (block ?? .zero).bytes
            text += "Block \(place): \(Hex.encode(bytes, uppercase: true, separator: " "))\n"
        }
        return text
    }
}
