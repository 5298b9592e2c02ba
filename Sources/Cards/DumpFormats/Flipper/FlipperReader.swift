// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel

/// Reads the lines of a Flipper `.nfc` file; unknown lines are ignored, as by the Flipper.
struct FlipperReader {
    private var card = ImportedCard()
    private var uid: IDm?
    private var hasVersion = false
    private var isFeliCa = false
    private var dataFormat: Int?
    private var counts = FlipperCounts()
    /// The areas, keyed by the index of their system.
    private var areas: [Int: [JSONValue]] = [:]
    /// Whether there are blocks that only a FeliCa Lite has.
    private var hasLiteBlocks = false
    private var refused = JSONObject()
    /// The systems of a FeliCa Lite with their services, from comments.
    private var views: [(system: SystemCode, services: [ServiceCode])] = []
    private var lastLine = 0

    mutating func read(_ line: TextLine) throws(DocumentError) {
        lastLine = line.number
        let text = line.text
        if text.hasPrefix("#") { return try readComment(text, line) }
        guard let colon = text.firstIndex(of: ":") else { return }
        let value = text[text.index(after: colon)...].trimmed
        let name = text[..<colon].trimmed
        switch name {
        case "Version":
            guard let version = Int(value), (2...4).contains(version) else { throw line.malformed(.flipperVersion) }
            hasVersion = true
        case "Device type":
            guard !value.isEmpty else { throw line.malformed(.deviceType) }
            guard value == "FeliCa" else { throw .notImported(kind: value) }
            isFeliCa = true
        case "UID": uid = try line.idm(value)
        case "Manufacture id": card.idm = try line.idm(value)
        case "Manufacture parameter": card.pmm = try line.pmm(value)
        case "Data format version":
            guard let number = Int(value), (1...3).contains(number) else { throw line.malformed(.dataFormat) }
            dataFormat = number
        default: try readBody(name.words, value, line)
        }
    }

    private mutating func readBody(_ words: [Substring], _ value: String, _ line: TextLine) throws(DocumentError) {
        guard words.count >= 2 else { return }
        if words.last == "found" || words.last == "read" || words.last == "total" {
            return try counts.note(words.joined(separator: " "), value, line)
        }
        guard words.count == 2 else { return }
        switch words[0] {
        case "System":
            guard !hasLiteBlocks else { throw line.malformed(.noSystemBesideLite) }
            try counts.endSystem(line)
            // What follows the code, such as the version of its key, has no place in a dump.
            card.systems.append(ImportedSystem(code: try line.code(fields(value).first ?? value)))
            counts.systems += 1
        case "Area": try readArea(fields(value), line)
        case "Service": try readService(fields(value), line)
        case "Block":
            if value.hasPrefix("|") {
                try readStandardBlock(fields(value), line)
            } else {
                try readLiteBlock(words[1], value, line)
            }
        default: break
        }
    }

    /// Splits the fields between vertical bars, each a label (`Code`, `Attrib.`, `Service code`, …) and a value.
    private func fields(_ value: String) -> [String] {
        value.split(separator: "|").map(\.trimmed).filter { !$0.isEmpty }
    }

    private func field(_ name: String, of fields: [String], _ line: TextLine) throws(DocumentError) -> String {
        guard let field = fields.first(where: { $0.hasPrefix(name + " ") }) else {
            throw line.malformed(.field, "\(name)")
        }
        return field.dropFirst(name.count + 1).trimmed
    }

    private func currentSystem(_ line: TextLine) throws(DocumentError) -> Int {
        guard !card.systems.isEmpty else { throw line.malformed(.systemBeforeServices) }
        return card.systems.count - 1
    }

    /// Reads an area. Where the file has its first and last service, but not its end code, they are kept unchanged.
    private mutating func readArea(_ fields: [String], _ line: TextLine) throws(DocumentError) {
        let system = try currentSystem(line)
        let code: AreaCode = try line.code(try field("Code", of: fields, line))
        counts.areas += 1
        if let end = try? field("End", of: fields, line) {
            card.systems[system].areas.append(
                AreaDump(start: code, end: try line.code(end), keyVersion: try keyVersion(fields, line)))
            return
        }
        let range = (try? field("Services", of: fields, line)) ?? ""
        areas[system, default: []].append(
            .object(JSONObject([("code", .string(code.description)), ("services", .string(range))])))
    }

    /// The version of a node's key, in files since 2026. The keys themselves are in lines of three words, which are not read.
    private func keyVersion(_ fields: [String], _ line: TextLine) throws(DocumentError) -> KeyVersion? {
        guard let text = try? field("Key version", of: fields, line) else { return nil }
        return KeyVersion(rawValue: try line.number16(text))
    }

    private mutating func readService(_ fields: [String], _ line: TextLine) throws(DocumentError) {
        let system = try currentSystem(line)
        let code: ServiceCode = try line.code(try field("Code", of: fields, line))
        if let attribute = try? field("Attrib.", of: fields, line) {
            guard try line.number16(attribute) == UInt16(code.attribute) else {
                throw line.malformed(.serviceAttribute)
            }
        }
        card.systems[system].note(code, keyVersion: try keyVersion(fields, line))
        counts.services += 1
    }

    private mutating func readStandardBlock(_ fields: [String], _ line: TextLine) throws(DocumentError) {
        let system = try currentSystem(line)
        let code: ServiceCode = try line.code(try field("Service code", of: fields, line))
        let number = try line.number16(try field("Block index", of: fields, line))
        let data = try field("Data:", of: fields, line)
        counts.blocks += 1
        if data.contains("?") {
            card.systems[system].note(code)
            card.complete = false
            return
        }
        try card.systems[system].add(try line.block(data), at: number, of: code, or: line.malformed(.uniqueBlock))
    }

    /// Reads a block of a FeliCa Lite: two status flags, then sixteen bytes that are valid if the flags are 00 00.
    private mutating func readLiteBlock(
        _ place: Substring, _ value: String, _ line: TextLine
    ) throws(DocumentError) {
        guard hasLiteBlocks || card.systems.isEmpty else { throw line.malformed(.blockOfService) }
        guard let place = Int(place), place >= 0 else {
            throw line.malformed(.blockNumberUpTo, "\(FlipperLite.blockNumbers.count - 1)")
        }
        counts.blocks += 1
        // Later files have further ones, of which no number is known.
        guard let number = FlipperLite.blockNumbers.element(at: place) else { return }
        if !hasLiteBlocks { card.systems.append(ImportedSystem(code: .lite)) }
        hasLiteBlocks = true
        card.systems[0].note(FlipperLite.service)
        if value.contains("?") { return }
        let bytes = try line.hex(value, count: 18)
        guard bytes.prefix(2).allSatisfy({ $0 == 0 }) else {
            refused[Hex.encode(number, digits: 4)] = .string(Hex.encode(bytes.prefix(2), uppercase: true))
            return
        }
        guard let block = Block(bytes.dropFirst(2)), card.systems[0].add(block, at: number, of: FlipperLite.service)
        else { throw line.malformed(.uniqueBlock) }
    }

    /// Reads the IDm or PMm of a system from a comment written by Kazasu.
    private mutating func readComment(_ text: String, _ line: TextLine) throws(DocumentError) {
        let words = text.words
        if words.count >= 4, words[1] == "System", words[3] == "services:" {
            let code: SystemCode = try line.code(String(words[2]))
            guard views.count < 2 else { throw line.malformed(.liteSystems) }
            var services: [ServiceCode] = []
            for word in words.dropFirst(4) { services.append(try line.code(String(word))) }
            views.append((code, services))
            return
        }
        guard words.count == 5, words[1] == "System", !card.systems.isEmpty else { return }
        let system = card.systems.count - 1
        if words[3] == "IDm:" { card.systems[system].idm = try line.idm(words[4]) }
        if words[3] == "PMm:" { card.systems[system].pmm = try line.pmm(words[4]) }
    }

    mutating func finish() throws(DocumentError) -> CardDump {
        guard hasVersion else { throw .missing(key: "Version") }
        guard isFeliCa else { throw .missing(key: "Device type") }
        card.idm = card.idm ?? uid
        guard card.idm != nil else { throw .missing(key: "UID") }
        let end = TextLine(number: lastLine, bytes: [])
        try counts.endSystem(end)
        try counts.endFile(end)
        guard !card.systems.isEmpty || dataFormat ?? 0 > 1 else { throw .missing(key: "Block 0") }
        for (system, areas) in areas { card.systems[system].extra["flipperAreas"] = .array(areas) }
        if hasLiteBlocks { finishLite() }
        return try card.dump()
    }

    /// Adds the services and the second system named in comments; both systems of a FeliCa Lite share one IDm.
    private mutating func addViews() {
        for view in views {
            if view.system != .lite {
                card.systems[0].idm = card.idm
                card.systems[0].pmm = card.pmm
                card.systems.append(ImportedSystem(code: view.system, idm: card.idm, pmm: card.pmm))
            }
            for service in view.services { card.systems[card.systems.count - 1].note(service) }
        }
    }

    /// Finishes a file that names no system.
    ///
    /// An older Flipper wrote every FeliCa card as a Lite, and for other cards every block as refused. Such a card gets
    /// no system; its answers are kept unchanged.
    private mutating func finishLite() {
        let answers = refused.members.isEmpty ? JSONObject() : JSONObject([("refusedBlocks", .object(refused))])
        let read = card.systems[0].numbers(of: FlipperLite.service)
        if FlipperLite.isProven(card.pmm, read) {
            card.systems[0].note(FlipperLite.service) { $0.extra.merge(answers) }
            addViews()
        } else if !read.isEmpty {
            card.systems[0].isCodeAssumed = true
            card.systems[0].note(FlipperLite.service) { $0.extra.merge(answers) }
        } else {
            card.systems = []
            card.complete = false
            if !refused.members.isEmpty { card.extra["flipper"] = .object(answers) }
        }
    }
}
