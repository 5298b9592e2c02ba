// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// A card file with what was written to its cards: the document as it was, with the blocks, pages, files, counters and
// tries that differ now. Faults and comments stay.

extension VirtualCardFile {
    /// Returns the file of cards as they are now.
    ///
    /// A phone's cards stay as they were: it changes its own numbers.
    ///
    /// - Parameters:
    ///   - cards: the cards, in the order of the file.
    ///   - bytes: the file that they were made from.
    /// - Throws: `DocumentError` when the file is not that of such cards.
    package static func file(
        of cards: [any VirtualCard], after bytes: [UInt8]
    ) throws(DocumentError) -> WrittenCardFile {
        var document = try JSONValue(parsing: bytes)
        let before = try loadCards(bytes)
        var (isWritten, losesKey) = (false, false)
        for (place, (old, new)) in zip(before, cards).enumerated() {
            let isOneOfMany = document.hasMember("cards")
            var json = isOneOfMany ? document["cards"][place] : document
            let isChanged: Bool
            switch (old, new) {
            case (let old as VirtualFeliCaCard, let new as VirtualFeliCaCard):
                let writes = FeliCaWrites(old, new)
                isChanged = try json.update(writes)
                losesKey = losesKey || writes.hasKey && json.isDump
            case (let old as VirtualType2Tag, let new as VirtualType2Tag):
                isChanged = try json.update(Type2Writes(old.memory, new.memory))
            case (let old as VirtualClassicCard, let new as VirtualClassicCard):
                isChanged = try json.update(ClassicWrites(old.memory, new.memory))
            case (let old as VirtualFileCard, let new as VirtualFileCard):
                isChanged = try json.update(FileWrites(old.files, new.files))
            default: continue
            }
            isWritten = isWritten || isChanged
            if isOneOfMany { document["cards"][place] = json } else { document = json }
        }
        return WrittenCardFile(document: document, isWritten: isWritten, losesKey: losesKey)
    }
}

/// A file of virtual cards with what was written to them.
package struct WrittenCardFile {
    package let document: JSONValue
    /// Whether a block, page or file was written.
    package let isWritten: Bool
    /// Whether a key was written that the file cannot hold, since it is a dump.
    package let losesKey: Bool
}

/// What was written to a card.
private protocol CardWrites {
    var isEmpty: Bool { get }
    /// Applies them to a card that was written by hand (`kazasu.card/1`).
    func apply(to card: inout JSONValue)
    /// Applies them to a dump.
    func apply(to dump: inout CardDump)
}

extension JSONValue {
    /// - Returns: whether anything was written.
    fileprivate mutating func update(_ writes: some CardWrites) throws(DocumentError) -> Bool {
        if isDump {
            var dump = try CardDump(json: self)
            writes.apply(to: &dump)
            self = dump.json
        } else {
            writes.apply(to: &self)
        }
        return !writes.isEmpty
    }

    fileprivate var isDump: Bool {
        if case .string(CardDump.schema) = self["schema"] { true } else { false }
    }

    fileprivate func hasMember(_ key: String) -> Bool {
        if case .object(let object) = self { object[key] != nil } else { false }
    }

    /// A member; null where there is none. Setting makes the object if there is none.
    fileprivate subscript(key: String) -> JSONValue {
        get { if case .object(let object) = self { object[key] ?? .null } else { .null } }
        set {
            var object = JSONObject()
            if case .object(let members) = self { object = members }
            object[key] = newValue
            self = .object(object)
        }
    }

    /// An element; null where there is none, and then not set.
    fileprivate subscript(place: Int) -> JSONValue {
        get { if case .array(let elements) = self { elements.element(at: place) ?? .null } else { .null } }
        set {
            guard case .array(var elements) = self, elements.indices.contains(place) else { return }
            elements[place] = newValue
            self = .array(elements)
        }
    }

    /// The name of the member whose name is this number in hexadecimal digits, however many; else `name`.
    fileprivate func key(_ number: UInt16, or name: String) -> String {
        guard case .object(let object) = self else { return name }
        return object.members.first { NodeCode($0.key)?.rawValue == number }?.key ?? name
    }

    fileprivate static func hex(_ bytes: [UInt8]) -> JSONValue { .string(Hex.encode(bytes)) }
}

// MARK: FeliCa

private struct FeliCaWrites: CardWrites {
    /// The memory that changed, by system and group of services that share it.
    private var stores: [(system: Int, group: UInt16, store: BlockStore)] = []
    /// The DES keys that changed, with their versions.
    private var keys: [(system: Int, node: UInt16, key: [UInt8], version: KeyVersion?)] = []
    /// The systems whose code, areas or services changed: a blank card that was issued.
    private var issued: [(place: Int, system: VirtualSystem)] = []
    /// The blocks of a FeliCa Lite that changed.
    private var lite: [(number: UInt16, block: Block)] = []

    /// Random challenge: it does not survive the loss of power.
    private static let volatile: Set<UInt16> = [LiteMemory.Number.challenge]

    init(_ old: VirtualFeliCaCard, _ new: VirtualFeliCaCard) {
        if let before = old.lite, let after = new.lite {
            for number in 0...UInt16(0xFF) where before[number] != after[number] {
                guard let block = after[number], !Self.volatile.contains(number) else { continue }
                lite.append((number, block))
            }
            return
        }
        for (place, (before, after)) in zip(old.systems, new.systemsWithoutPower).enumerated() {
            if before.code != after.code || before.nodes.map(\.code) != after.nodes.map(\.code) {
                issued.append((place, after))
                continue
            }
            for (group, store) in after.memory.sorted(by: { $0.key < $1.key }) where before.memory[group] != store {
                stores.append((place, group, store))
            }
            for (node, key) in (after.keys?.des ?? [:]).sorted(by: { $0.key < $1.key })
            where before.keys?.des[node] != key {
                keys.append((place, node, key, after.keyVersion(of: node)))
            }
        }
    }

    var isEmpty: Bool { stores.isEmpty && lite.isEmpty && keys.isEmpty && issued.isEmpty }

    /// Whether the key of a FeliCa Lite was written.
    var hasKey: Bool { lite.contains { $0.number == LiteMemory.Number.key } }

    func apply(to card: inout JSONValue) {
        for (place, system) in issued {
            guard case .object(let object) = card["systems"][place] else { continue }
            card["systems"][place] = .object(system.described(in: object))
        }
        for (system, group, store) in stores {
            guard case .object(let services) = card["systems"][system]["blocks"] else { continue }
            for key in services.members.map(\.key) where ServiceCode(key)?.overlapGroup == group {
                card["systems"][system]["blocks"][key] = .array(store.blocks.map { .hex($0.block.bytes) })
            }
        }
        for (system, node, key, version) in keys {
            let name = NodeCode(rawValue: node).description
            for (member, value) in [("keys", JSONValue.hex(key)), ("keyVersions", .text(version?.description))] {
                let place = card["systems"][system][member].key(node, or: name)
                card["systems"][system][member][place] = value
            }
        }
        for (number, block) in lite {
            let key = card["lite"]["blocks"].key(
                number, or: Hex.encode([UInt8(truncatingIfNeeded: number)], uppercase: true))
            card["lite"]["blocks"][key] = .hex(block.bytes)
        }
    }

    func apply(to dump: inout CardDump) {
        for (place, system) in dump.systems.enumerated() {
            for (index, service) in system.services.enumerated() {
                for (number, block) in changed(place, service) {
                    dump.systems[place].services[index].blocks[number] = block
                }
            }
        }
    }

    /// The new contents of the blocks that the dump has of a service.
    private func changed(_ system: Int, _ service: ServiceDump) -> [(UInt16, Block)] {
        let own = stores.first { $0.system == system && $0.group == service.code.overlapGroup }?.store
        return service.blocks.compactMap { number, _ in
            (own?[number] ?? lite.first { $0.number == number }?.block).map { (number, $0) }
        }
    }
}

// MARK: Type 2 Tags

private struct Type2Writes: CardWrites {
    private var pages: [(number: Int, data: [UInt8])] = []
    private var counters: [(number: Int, value: UInt32)] = []
    /// The number of wrong passwords, where it changed.
    private var wrongPasswords: Int?

    init(_ old: Type2Memory, _ new: Type2Memory) {
        if old.wrongPasswords != new.wrongPasswords { wrongPasswords = new.wrongPasswords }
        pages = (0..<new.bytes.count / 4).filter { old[$0] != new[$0] }.map { ($0, new[$0]) }
        counters = new.counters.indices.filter { old.counters.element(at: $0) != new.counters[$0] }
            .map { ($0, new.counters[$0]) }
    }

    /// Reading moves a counter, too, and a password that was tried is not a write.
    var isEmpty: Bool { pages.isEmpty }

    func apply(to card: inout JSONValue) {
        for (number, data) in pages {
            let own = card["type2"]["pages"]
            let key = own.key(UInt16(clamping: number), or: Type2Dump.name(of: UInt16(clamping: number)))
            card["type2"]["pages"][key] = .hex(data)
        }
        for (number, value) in counters { card["type2"]["counters"]["\(number)"] = .int(value) }
        if let wrongPasswords { card["type2"]["wrongPasswords"] = .int(wrongPasswords) }
    }

    func apply(to dump: inout CardDump) {
        for (number, data) in pages { dump.type2?.pages[UInt16(clamping: number)] = data }
        for (number, value) in counters { dump.type2?.counters[UInt8(clamping: number)] = value }
    }
}

// MARK: MIFARE Classic

private struct ClassicWrites: CardWrites {
    private var blocks: [(number: Int, data: [UInt8?])] = []

    init(_ old: ClassicMemory, _ new: ClassicMemory) {
        blocks = (0..<new.blockCount).map { ($0, new.known($0)) }.filter { old.known($0.number) != $0.data }
    }

    var isEmpty: Bool { blocks.isEmpty }

    func apply(to card: inout JSONValue) {
        for (number, data) in blocks { card["classic"]["blocks"]["\(number)"] = .hex(data.map { $0 ?? 0 }) }
    }

    func apply(to dump: inout CardDump) {
        for (number, data) in blocks { dump.classic?[number] = data }
    }
}

// MARK: Cards with files

private struct FileWrites: CardWrites {
    /// The files that changed, each with the place of its application; `nil` for the master file.
    private var files: [(application: Int?, name: AID?, file: VirtualFile)] = []
    /// The PINs whose number of tries changed.
    private var tries: [(application: Int?, pin: String, left: Int)] = []

    /// What an applet keeps beside the files, and its name in the card file.
    private var members: [(name: String, value: JSONValue)] = []
    private var applet = VirtualNTAG424.name
    /// The files of a DESFire whose contents changed.
    private var contents: [(application: [UInt8], number: UInt8, file: VirtualDESFire.File)] = []
    private var hidesUID = false

    init(_ old: VirtualFileTree, _ new: VirtualFileTree) {
        if let before = old.applet(VirtualNTAG424.self), let after = new.applet(VirtualNTAG424.self) {
            members = after.members(since: before)
            hidesUID = after.isUIDHidden && !before.isUIDHidden
        }
        if let before = old.applet(VirtualDESFire.self), let after = new.applet(VirtualDESFire.self) {
            (members, applet) = (after.members(since: before), VirtualDESFire.name)
            contents = after.files(since: before)
        }
        take(nil, old.masterFile, new.masterFile)
        for (place, (before, after)) in zip(old.applications, new.applications).enumerated() {
            take(place, before, after)
        }
    }

    private mutating func take(_ application: Int?, _ old: VirtualDirectory, _ new: VirtualDirectory) {
        for (before, after) in zip(old.files, new.files) where before.content != after.content {
            files.append((application, new.name, after))
        }
        for (before, after) in zip(old.pins, new.pins) where before.triesLeft != after.triesLeft {
            tries.append((application, after.name, after.triesLeft))
        }
    }

    /// A PIN or a key that was tried is not a write, nor is a reading that was counted.
    var isEmpty: Bool {
        files.isEmpty && !hidesUID && members.allSatisfy { VirtualNTAG424.counters.contains($0.name) }
    }

    func apply(to card: inout JSONValue) {
        for (name, value) in members { card[applet][name] = value }
        if hidesUID { card["typeA"]["uid"] = "random" }
        for (application, _, file) in files {
            var directory = FileWrites.directory(application, of: card)
            let key = directory["files"].key(file.id.rawValue, or: file.id.description)
            directory["files"][key] = FileWrites.written(directory["files"][key], file)
            FileWrites.set(directory, application, in: &card)
        }
        for (application, pin, left) in tries {
            var directory = FileWrites.directory(application, of: card)
            directory["pins"][pin]["left"] = .int(left)
            FileWrites.set(directory, application, in: &card)
        }
    }

    private static func directory(_ application: Int?, of card: JSONValue) -> JSONValue {
        application.map { card["applications"][$0] } ?? card["masterFile"]
    }

    private static func set(_ directory: JSONValue, _ application: Int?, in card: inout JSONValue) {
        if let application { card["applications"][application] = directory } else { card["masterFile"] = directory }
    }

    /// A file in its new form: its bytes alone, or an object with its rules.
    private static func written(_ json: JSONValue, _ file: VirtualFile) -> JSONValue {
        guard case .object(let object) = json else {
            if case .bytes(let bytes) = file.content { return .hex(bytes) }
            return json
        }
        var members = object.without(["size", "fill"])
        switch file.content {
        case .bytes(let bytes): members["data"] = .hex(bytes)
        case .records(let records): members["records"] = .array(records.map { .hex($0) })
        }
        return .object(members)
    }

    func apply(to dump: inout CardDump) {
        for (_, name, file) in files {
            guard case .bytes(let bytes) = file.content else { continue }
            for place in dump.applications.indices where dump.applications[place].aid == name {
                for index in dump.applications[place].files.indices
                where dump.applications[place].files[index].id == file.id {
                    dump.applications[place].files[index].data = bytes
                }
            }
        }
        guard let memory = dump.desfire else { return }
        var json = memory.json
        for (application, number, file) in contents {
            for (place, known) in memory.applications.enumerated() where known.idBytes == application {
                for (index, kept) in known.files.enumerated() where kept.number == number && kept.contents != nil {
                    var new = json["applications"][place]["files"][index]
                    switch file.kind {
                    case .standard, .backup: new["data"] = .hex(file.bytes)
                    case .value: new["value"] = .int(Int(file.value))
                    case .linear, .cyclic:
                        new["records"] = .int(file.records.count)
                        new["contents"] = .array(file.records.map { .hex($0) })
                    }
                    json["applications"][place]["files"][index] = new
                }
            }
        }
        dump.desfire = (try? DESFireMemory(json: JSONCursor(json))) ?? memory
    }
}
