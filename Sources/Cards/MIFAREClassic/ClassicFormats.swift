// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// The formats of dumps of MIFARE Classic; the raw values are the endings of their files.
package enum ClassicFormat: String, Hashable, Sendable, CaseIterable {
    /// The bytes of all blocks, as nfc-mfclassic and MIFARE Classic Tool write them; what is not known is 00.
    case mfd
    /// Text of MIFARE Classic Tool: `+Sector: N` and a line a block; `-` for digits that are not known.
    case mct
    /// Flipper Zero, `Block N:`; `??` for bytes that are not known.
    case nfc
    /// JSON of the Proxmark3 client.
    case json
    /// A line of 32 digits a block, of the Proxmark3 client; what is not known is 00.
    case eml

    /// The format of a file, by its ending; `nil` for another one.
    package init?(ending: String) {
        switch ending.lowercased() {
        case "mfd", "mfc", "bin", "dump": self = .mfd
        case let ending: self.init(rawValue: ending)
        }
    }

    /// Whether it can hold that a byte is not known.
    package var marksUnknown: Bool { self == .mct || self == .nfc || self == .json }

    /// The file.
    package func data(_ image: ClassicImage) -> [UInt8] {
        switch self {
        case .mfd:
            return (0..<image.kind.blockCount).flatMap { block in
                (image[block] ?? Self.unknown).map { $0 ?? 0 }
            }
        case .eml:
            let lines = (0..<image.kind.blockCount).map { block in
                Hex.encode((image[block] ?? Self.unknown).map { $0 ?? 0 }) + "\n"
            }
            return Array(lines.joined().utf8)
        case .mct: return Array(mct(image).utf8)
        case .nfc: return Array(flipper(image).utf8)
        case .json: return Array((proxmark(image).compactText + "\n").utf8)
        }
    }

    private static let unknown = [UInt8?](repeating: nil, count: ClassicKind.blockSize)

    private func digits(_ block: [UInt8?], unknown: String, separator: String = "") -> String {
        block.map { $0.map { Hex.encode([$0], uppercase: true) } ?? unknown }.joined(separator: separator)
    }

    private func mct(_ image: ClassicImage) -> String {
        var text = ""
        for sector in 0..<image.kind.sectorCount {
            text += "+Sector: \(sector)\n"
            for block in ClassicKind.blocks(of: sector) {
                text += digits(image[block] ?? Self.unknown, unknown: "--") + "\n"
            }
        }
        return text
    }

    private func flipper(_ image: ClassicImage) -> String {
        let hex = { (bytes: [UInt8]) in Hex.encode(bytes, uppercase: true, separator: " ") }
        var text = """
            Filetype: Flipper NFC device
            Version: 4
            Device type: Mifare Classic
            UID: \(hex(image.uid ?? []))
            ATQA: \(hex(image.atqa.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? [0, 0]))
            SAK: \(hex([image.sak ?? 0]))
            Mifare Classic type: \(image.kind == .mini ? "MINI" : image.kind.rawValue)
            Data format version: 2

            """
        for block in 0..<image.kind.blockCount {
            text += "Block \(block): \(digits(image[block] ?? Self.unknown, unknown: "??", separator: " "))\n"
        }
        return text
    }

    private func proxmark(_ image: ClassicImage) -> JSONValue {
        var card = JSONObject()
        card["UID"] = .string(Hex.encode(image.uid ?? [], uppercase: true))
        if let atqa = image.atqa {
            // In the order of transmission.
            card["ATQA"] = .string(Hex.encode([UInt8(atqa & 0xFF), UInt8(atqa >> 8)], uppercase: true))
        }
        if let sak = image.sak { card["SAK"] = .string(Hex.encode([sak], uppercase: true)) }
        var blocks = JSONObject()
        var keys = JSONObject()
        for block in 0..<image.kind.blockCount {
            // The format has no sign for what is not known: such a trailer is in SectorKeys alone.
            guard let bytes = image.whole(block) else { continue }
            blocks["\(block)"] = .string(Hex.encode(bytes, uppercase: true))
        }
        for sector in 0..<image.kind.sectorCount {
            guard let trailer = image[ClassicKind.trailer(of: sector)] else { continue }
            var object = JSONObject()
            for (type, name) in [(ClassicKeyType.a, "KeyA"), (.b, "KeyB")] {
                if let key = image.key(type, of: sector) {
                    object[name] = .string(Hex.encode(key.bytes, uppercase: true))
                }
            }
            let access = trailer[6..<10].compactMap { $0 }
            if access.count == 4 { object["AccessConditions"] = .string(Hex.encode(access, uppercase: true)) }
            keys["\(sector)"] = .object(object)
        }
        return [
            "Created": "kazasu", "FileType": "mfc v2", "Card": .object(card), "blocks": .object(blocks),
            "SectorKeys": .object(keys),
        ]
    }
}

extension ClassicImage {
    /// The longest file that is read.
    package static let longestFile = 1 << 20

    /// Reads a dump in any format, which is known by its contents.
    ///
    /// - Throws: `DocumentError`.
    package init(reading file: [UInt8]) throws(DocumentError) {
        guard file.count <= Self.longestFile else { throw .tooLong(bytes: file.count, limit: Self.longestFile) }
        if let text = Self.text(file) {
            if text.first == "{" {
                self = try Self.proxmark(file)
            } else if text.hasPrefix("Filetype:") {
                self = try Self.flipper(text)
            } else if text.contains("+Sector:") {
                self = try Self.mct(text)
            } else if let image = Self.lines(text) {
                self = image
            } else {
                throw .unknownFormat
            }
            return
        }
        guard let kind = ClassicKind(byteCount: file.count) else { throw .unknownFormat }
        self.init(kind)
        for block in 0..<kind.blockCount { self[block] = Array(file[block * 16..<block * 16 + 16]) }
        takeIdentity()
    }

    /// The text of a file, if it has no bytes that texts do not have.
    static func text(_ file: [UInt8]) -> String? {
        guard !file.isEmpty, file.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || [0x09, 0x0A, 0x0D].contains($0) }) else {
            return nil
        }
        return String(validating: file, as: UTF8.self).map { text in
            String(text.drop { $0 == "\u{FEFF}" || $0.isWhitespace })
        }
    }

    /// The UID from the first block, where nothing else says it.
    private mutating func takeIdentity() {
        guard uid == nil, let block = whole(0) else { return }
        uid = ClassicImage.uid(inBlock0: block)
    }

    private static func proxmark(_ file: [UInt8]) throws(DocumentError) -> ClassicImage {
        let root = JSONCursor(try JSONValue(parsing: file))
        let type = try root.required("FileType").text()
        guard type.hasPrefix("mfc") else { throw .notImported(kind: type) }
        let members = try root.required("blocks").members()
        let kind = ClassicKind.allCases.first { $0.blockCount > (members.compactMap { Int($0.key) }.max() ?? 0) }
        guard let kind else { throw .malformed(key: "blocks", expected: .init(.atMostBlocks, "256")) }
        var image = ClassicImage(kind)
        for (key, value) in members {
            guard let number = Int(key), (0..<kind.blockCount).contains(number),
                let bytes = digits(try value.text(), unknown: "?")
            else { throw .malformed(key: "blocks.\(key)", expected: .init(.bytesInHex, "16")) }
            image[number] = bytes
        }
        let card = try root.optional("Card")
        image.uid = try card?.optional("UID").map { uid throws(DocumentError) in try uid.bytes() }
        if let atqa = try card?.optional("ATQA")?.bytes(count: 2) {
            image.atqa = UInt16(atqa[1]) << 8 | UInt16(atqa[0])
        }
        image.sak = try card?.optional("SAK")?.bytes(count: 1).first
        for (key, value) in try root.optional("SectorKeys")?.members() ?? [] {
            guard let sector = Int(key), (0..<kind.sectorCount).contains(sector) else {
                throw .malformed(key: "SectorKeys.\(key)", expected: .init(.atMostBlocks, "\(kind.sectorCount)"))
            }
            let block = ClassicKind.trailer(of: sector)
            var trailer = image[block] ?? [UInt8?](repeating: nil, count: 16)
            for (name, place) in [("KeyA", 0), ("KeyB", 10)] {
                guard let key = try value.optional(name)?.bytes(count: 6) else { continue }
                trailer.replaceSubrange(place..<place + 6, with: key)
            }
            if let access = try value.optional("AccessConditions")?.bytes(count: 4) {
                trailer.replaceSubrange(6..<10, with: access)
            }
            image[block] = trailer
        }
        image.takeIdentity()
        return image
    }

    private static func flipper(_ text: String) throws(DocumentError) -> ClassicImage {
        var fields: [(line: Int, name: String, value: String)] = []
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            guard !line.hasPrefix("#"), let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].filter { $0 != "\r" }
            fields.append((number + 1, String(line[..<colon]), String(value.drop { $0 == " " })))
        }
        let field = { (name: String) in fields.first { $0.name == name } }
        guard let device = field("Device type"), device.value == "Mifare Classic" else {
            throw .notImported(kind: field("Device type")?.value ?? "?")
        }
        let names: [String: ClassicKind] = ["MINI": .mini, "1K": .k1, "4K": .k4]
        guard let type = field("Mifare Classic type") else { throw .missing(key: "Mifare Classic type") }
        guard let kind = names[type.value] else {
            throw .malformedLine(line: type.line, expected: .init(.oneOf, "MINI", "1K", "4K"))
        }
        var image = ClassicImage(kind)
        let version = field("Version").flatMap { Int($0.value) } ?? 0
        let hasTrueKeys = (field("Data format version").flatMap { Int($0.value) } ?? 1) >= 2
        for entry in fields {
            let bytes = { () throws(DocumentError) in
                guard let bytes = try? Hex.decode(entry.value) else {
                    throw DocumentError.malformedLine(line: entry.line, expected: .init(.hex))
                }
                return bytes
            }
            switch entry.name {
            case "UID": image.uid = try bytes()
            case "SAK": image.sak = try bytes().first
            case "ATQA":
                let pair = try bytes()
                guard pair.count == 2 else {
                    throw .malformedLine(line: entry.line, expected: .init(.bytesInHex, "2"))
                }
                image.atqa =
                    version > 3 ? UInt16(pair[0]) << 8 | UInt16(pair[1]) : UInt16(pair[1]) << 8 | UInt16(pair[0])
            case let name where name.hasPrefix("Block "):
                guard let number = Int(name.dropFirst(6)), (0..<kind.blockCount).contains(number) else {
                    throw .malformedLine(line: entry.line, expected: .init(.blockNumberUpTo, "\(kind.blockCount - 1)"))
                }
                guard var block = digits(entry.value.filter { $0 != " " }, unknown: "?") else {
                    throw .malformedLine(line: entry.line, expected: .init(.bytesInHex, "16"))
                }
                if !hasTrueKeys, ClassicKind.trailer(of: ClassicKind.sector(of: number)) == number {
                    // Before version 2 a key that was not found is zeros there.
                    for range in [0..<6, 10..<16] where block[range].allSatisfy({ $0 == 0 }) {
                        for place in range { block[place] = nil }
                    }
                }
                image[number] = block
            default: break
            }
        }
        image.takeIdentity()
        return image
    }

    private static func mct(_ text: String) throws(DocumentError) -> ClassicImage {
        var image = ClassicImage(.k4)
        var next: Int?
        var last = 0
        for (number, line) in text.split(whereSeparator: \.isNewline).enumerated() {
            let line = line.filter { !$0.isWhitespace }
            guard !line.isEmpty else { continue }
            if line.hasPrefix("+Sector:") {
                guard let sector = Int(line.dropFirst(8)), (0..<40).contains(sector) else {
                    throw .malformedLine(line: number + 1, expected: .init(.form, "+Sector: 0"))
                }
                next = ClassicKind.firstBlock(of: sector)
                last = max(last, sector)
                continue
            }
            guard let block = next, ClassicKind.sector(of: block) <= last,
                let bytes = digits(String(line), unknown: "-")
            else { throw .malformedLine(line: number + 1, expected: .init(.bytesInHex, "16")) }
            image[block] = bytes
            next = block + 1
        }
        let kind = ClassicKind.allCases.first { $0.sectorCount > last } ?? .k4
        var shrunk = ClassicImage(kind)
        for (block, bytes) in image.blocks { shrunk[block] = bytes }
        shrunk.takeIdentity()
        return shrunk
    }

    /// Lines of 32 digits, one a block; `nil` unless they are as many as a card has.
    private static func lines(_ text: String) -> ClassicImage? {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace } }.filter {
            !$0.isEmpty
        }
        guard let kind = ClassicKind(byteCount: lines.count * 16) else { return nil }
        var image = ClassicImage(kind)
        for (block, line) in lines.enumerated() {
            guard let bytes = digits(String(line), unknown: "-") else { return nil }
            image[block] = bytes
        }
        image.takeIdentity()
        return image
    }

    /// Sixteen bytes of two digits each, where both may be the sign for what is not known.
    private static func digits(_ text: String, unknown: Character) -> [UInt8?]? {
        let characters = Array(text.utf8)
        guard characters.count == 32, let sign = unknown.asciiValue else { return nil }
        var bytes: [UInt8?] = []
        for place in stride(from: 0, to: 32, by: 2) {
            if characters[place] == sign, characters[place + 1] == sign {
                bytes.append(nil)
            } else if let high = Hex.value(of: characters[place]), let low = Hex.value(of: characters[place + 1]) {
                bytes.append(high << 4 | low)
            } else {
                return nil
            }
        }
        return bytes
    }
}

extension ClassicKeys {
    /// Reads keys from a file of any common form: lines of `SECTOR A|B KEY` or of twelve digits, a dump with keys in its
    /// trailers, or the binary file of keys of the Proxmark3 client (all keys A, then all keys B).
    ///
    /// - Throws: `DocumentError`; no text of the file is in it.
    package init(reading file: [UInt8]) throws(DocumentError) {
        self.init()
        guard file.count <= ClassicImage.longestFile else {
            throw .tooLong(bytes: file.count, limit: ClassicImage.longestFile)
        }
        guard let text = ClassicImage.text(file) else {
            if let kind = ClassicKind.allCases.first(where: { $0.sectorCount * 12 == file.count }) {
                for sector in 0..<kind.sectorCount {
                    for (type, start) in [(ClassicKeyType.a, 0), (.b, kind.sectorCount * 6)] {
                        let place = start + sector * 6
                        if let key = ClassicKey(Array(file[place..<place + 6])) { add(key, sector: sector, type: type) }
                    }
                }
                return
            }
            take(try ClassicImage(reading: file))
            return
        }
        if text.first == "{" || text.hasPrefix("Filetype:") || text.contains("+Sector:") {
            take(try ClassicImage(reading: file))
            return
        }
        do throws(DocumentError) {
            try takeLines(text)
        } catch {
            // Lines of whole blocks are a dump.
            guard let image = try? ClassicImage(reading: file) else { throw error }
            self = ClassicKeys()
            take(image)
        }
    }

    private mutating func take(_ image: ClassicImage) {
        for sector in 0..<image.kind.sectorCount {
            for type in ClassicKeyType.allCases {
                if let key = image.key(type, of: sector) { add(key, sector: sector, type: type) }
            }
        }
    }

    private mutating func takeLines(_ text: String) throws(DocumentError) {
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace).map(String.init)
            let malformed = DocumentError.malformedLine(line: number + 1, expected: .init(.form, "SECTOR A|B KEY"))
            func key(_ text: String) throws(DocumentError) -> ClassicKey {
                guard text.utf8.count == 12, let bytes = try? Hex.decode(text), let key = ClassicKey(bytes) else {
                    throw malformed
                }
                return key
            }
            switch words.count {
            case 0: continue
            case 1: add(try key(words[0]))
            case 3:
                guard let type = ClassicKeyType(rawValue: words[1].uppercased()) else { throw malformed }
                if words[0] == "*" {
                    add(try key(words[2]), type: type)
                } else {
                    guard let sector = Int(words[0]), (0..<40).contains(sector) else { throw malformed }
                    add(try key(words[2]), sector: sector, type: type)
                }
            default: throw malformed
            }
        }
    }
}
