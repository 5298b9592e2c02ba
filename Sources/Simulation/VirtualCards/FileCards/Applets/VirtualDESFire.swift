// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import ByteCodec

/// What makes a virtual card a MIFARE DESFire: applications, each with keys and files of its own, and sessions.
///
/// Written by hand from other people's recordings and the wording of data sheets, so that a mistake of the reading side shows.
package struct VirtualDESFire: VirtualApplet {
    package static let name = "desfire"

    package enum Generation: String, Hashable, Sendable, CaseIterable {
        case d40 = "D40"
        case ev1 = "EV1"
        case ev2 = "EV2"
        case ev3 = "EV3"

        /// GetVersion's first two parts, as cards of 4 and 8 KB give them.
        var parts: [[UInt8]] {
            switch self {
            case .d40: [[0x04, 0x01, 0x01, 0x00, 0x02, 0x18, 0x05], [0x04, 0x01, 0x01, 0x00, 0x06, 0x18, 0x05]]
            case .ev1: [[0x04, 0x01, 0x01, 0x01, 0x00, 0x1A, 0x05], [0x04, 0x01, 0x01, 0x01, 0x04, 0x1A, 0x05]]
            case .ev2: [[0x04, 0x01, 0x01, 0x12, 0x00, 0x1A, 0x05], [0x04, 0x01, 0x01, 0x02, 0x01, 0x1A, 0x05]]
            case .ev3: [[0x04, 0x01, 0x01, 0x33, 0x00, 0x1A, 0x05], [0x04, 0x01, 0x01, 0x03, 0x00, 0x1A, 0x05]]
            }
        }

        var isNew: Bool { self == .ev2 || self == .ev3 }
    }

    package struct File: Hashable, Sendable {
        /// As the card's numbers have it.
        package enum Kind: UInt8, Hashable, Sendable {
            case standard, backup, value, linear, cyclic
        }

        package var kind: Kind
        package var mode: UInt8
        /// Two bytes as the card sends them.
        package var rights: [UInt8]
        package var bytes: [UInt8] = []
        package var value: Int32 = 0
        package var lower: Int32 = 0
        package var upper: Int32 = 0
        package var limitedCredit = false
        package var recordSize = 0
        package var maxRecords = 0
        /// The oldest first.
        package var records: [[UInt8]] = []
        /// The identifier of ISO 7816; 0 without one.
        package var name: UInt16 = 0
        /// Whether the newest record is not committed.
        var hasNewRecord = false

        package init(kind: Kind, mode: UInt8, rights: [UInt8]) {
            (self.kind, self.mode, self.rights) = (kind, mode, rights)
        }
    }

    package struct Application: Hashable, Sendable {
        /// Three bytes, most significant first.
        package var id: [UInt8]
        package var settings: UInt8
        package var keys: [DESFireChipKey]
        package var versions: [UInt8]
        package var name: [UInt8] = []
        /// Whether its files have identifiers of ISO 7816.
        package var hasFileNames = false
        package var files: [UInt8: File] = [:]

        package init(id: [UInt8], settings: UInt8, keys: [DESFireChipKey], versions: [UInt8]) {
            (self.id, self.settings, self.keys, self.versions) = (id, settings, keys, versions)
        }
    }

    enum Access: Sendable {
        case none
        case begun(code: UInt8, random: [UInt8], key: Int, challenge: [UInt8])
        case open(DESFireChipSession)
    }

    package var generation: Generation
    package var uid: [UInt8]
    package var freeMemory = 4096
    /// What deleted files took, which is free again after a format.
    package var deletedMemory = 0
    /// What Read_Sig gives, 56 bytes; none if empty.
    package var signature: [UInt8] = []
    package var isUIDHidden = false
    /// GetVersion's first two parts of a card that is made from a dump.
    var savedVersion: [[UInt8]]?
    /// The card itself, with the master key.
    package var card: Application
    package var applications: [Application] = []
    /// The session whose identifier and counter an authentication goes on with.
    var earlier: DESFireChipSession?
    /// Random numbers that come before those of the generator, for vectors.
    package var randoms: [[UInt8]] = []
    /// How often a key was refused, by application (three bytes) and number.
    package var failures: [[UInt8]: Int] = [:]

    /// The number of the selected application; `nil` for the card itself.
    package var selected: Int?
    var access = Access.none
    /// The frames of an answer that were not fetched.
    private var frames: [[UInt8]] = []
    /// A command of which more frames are to come.
    private var begun: (code: UInt8, data: [UInt8])?
    /// The files of a transaction that was not committed.
    var pending: [UInt8: File] = [:]
    /// The file that a SELECT of ISO 7816 opened.
    var opened: UInt8?

    package init(_ generation: Generation, uid: [UInt8], card: Application) {
        (self.generation, self.uid, self.card) = (generation, uid, card)
    }

    package mutating func losePower() {
        selected = nil
        end()
    }

    package mutating func select() {}

    /// Ends a session and a transaction.
    package mutating func end() {
        access = .none
        frames = []
        begun = nil
        pending = [:]
        opened = nil
    }

    var current: Application {
        get { selected.map { applications[$0] } ?? card }
        set { if let selected { applications[selected] = newValue } else { card = newValue } }
    }

    // MARK: Frames

    package mutating func answer(_ command: CommandAPDU, on card: inout FileCardState) -> FileCardReply? {
        guard command.classByte == 0x90 else { return selectByName(command, card.tree) ?? answerISO(command) }
        guard command.parameters == 0 else { return FileCardReply(0x917E) }
        let more = frames
        let before = begun
        (frames, begun) = ([], nil)
        if command.instruction == 0xAF {
            if case .begun = access { return finish(command.data, on: &card) }
            if let next = more.first {
                frames = Array(more.dropFirst())
                return FileCardReply(next, frames.isEmpty ? 0x9100 : 0x91AF)
            }
            guard let before else { return FileCardReply(0x91CA) }
            return collect(before.code, before.data + command.data, on: &card)
        }
        guard more.isEmpty, before == nil else {
            end()
            return FileCardReply(0x91CA)
        }
        if case .begun = access { access = .none }
        return collect(command.instruction, command.data, on: &card)
    }

    /// Waits for the rest of a command, or carries it out.
    private mutating func collect(_ code: UInt8, _ data: [UInt8], on card: inout FileCardState) -> FileCardReply {
        if let length = length(code, data), data.count < length {
            begun = (code, data)
            return FileCardReply(0x91AF)
        }
        let reply = carryOut(code, data, on: &card)
        // After any other status the session is lost.
        if ![0x9100, 0x91AF, 0x9190].contains(reply.status) { access = .none }
        return reply
    }

    /// The length of a command that may have several frames; `nil` for others.
    private func length(_ code: UInt8, _ data: [UInt8]) -> Int? {
        guard [0x3D, 0x3B].contains(code), data.count >= 7, let file = current.files[data[0]],
            let mode = mode(of: file, [file.rights[1] & 0x0F, file.rights[0] >> 4])
        else { return nil }
        let count = Self.number(data[4..<7])
        if case .open(let session) = access { return 7 + session.length(count, mode: mode) }
        return 7 + count
    }

    /// An answer with status 00, cut into frames if its code is one of the old ones.
    func cut(_ data: [UInt8], whole: Bool = false) -> (first: [UInt8], rest: [[UInt8]]) {
        guard !whole, data.count > 59 else { return (data, []) }
        let parts = stride(from: 0, to: data.count, by: 59).map { Array(data[$0..<min($0 + 59, data.count)]) }
        return (parts[0], Array(parts.dropFirst()))
    }

    package mutating func give(_ data: [UInt8], whole: Bool = false) -> FileCardReply {
        let (first, rest) = cut(data, whole: whole)
        frames = rest
        return FileCardReply(first, rest.isEmpty ? 0x9100 : 0x91AF)
    }

    /// Parts that each have a frame of their own.
    private mutating func give(parts: [[UInt8]]) -> FileCardReply {
        frames = Array(parts.dropFirst())
        return FileCardReply(parts.first ?? [], frames.isEmpty ? 0x9100 : 0x91AF)
    }

    // MARK: Commands

    private mutating func carryOut(_ code: UInt8, _ data: [UInt8], on card: inout FileCardState) -> FileCardReply {
        switch code {
        case 0x5A: return select(data)
        case 0x0A, 0x1A, 0xAA, 0x71, 0x77: return begin(code, data, on: &card)
        case 0x60: return look(code, data, 0) { .parts($0.version) }
        case 0x45: return look(code, data, 0) { $0.keySettings() }
        case 0x64: return look(code, data, 1) { $0.keyVersion(data[0]) }
        case 0x6A: return look(code, data, 0) { $0.list() }
        case 0x6D: return look(code, data, 0) { $0.names() }
        case 0x6E:
            guard generation != .d40 else { return FileCardReply(0x911C) }
            return look(code, data, 0) { .data(Self.field($0.freeMemory, 3)) }
        case 0x6F: return look(code, data, 0) { $0.fileNumbers() }
        case 0xF5: return look(code, data, 1) { $0.fileSettings(data[0]) }
        case 0xC7: return look(code, data, 0) { $0.commit() }
        case 0xA7:
            return look(code, data, 0) { card in
                card.pending = [:]
                return .data([])
            }
        case 0x3C:
            guard generation.isNew, !signature.isEmpty else { return FileCardReply(0x911C) }
            return data == [0x00] ? FileCardReply(signature, 0x9190) : FileCardReply(0x919E)
        case 0x51: return giveUID(data)
        case 0xBD, 0xBB, 0x6C: return read(code, data)
        case 0xAD, 0xAB: return generation.isNew ? read(code, data) : FileCardReply(0x911C)
        case 0x3D, 0x3B, 0x0C, 0xDC: return write(code, data)
        case 0x8D, 0x8B: return generation.isNew ? write(code, data) : FileCardReply(0x911C)
        case 0xC4: return changeKey(data)
        default: return changeDirectory(code, data) ?? FileCardReply(0x911C)
        }
    }

    private mutating func select(_ data: [UInt8]) -> FileCardReply {
        guard data.count == 3 else { return FileCardReply(0x917E) }
        end()
        let id = Array(data.reversed())
        guard id != [0, 0, 0] else {
            selected = nil
            return FileCardReply(0x9100)
        }
        guard let place = applications.firstIndex(where: { $0.id == id }) else { return FileCardReply(0x91A0) }
        selected = place
        return FileCardReply(0x9100)
    }

    /// SELECT by the name of the card or of an application (ISO 7816-4).
    private mutating func selectByName(_ command: CommandAPDU, _ tree: VirtualFileTree) -> FileCardReply? {
        guard command.classByte == 0x00, command.instruction == 0xA4, command.p1 == 0x04 else { return nil }
        let place = applications.firstIndex { !$0.name.isEmpty && $0.name == command.data }
        guard place != nil || command.data == [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x00] else { return nil }
        end()
        selected = place
        // The files of ISO 7816 are those of the card file, if it has any.
        return tree.applications.contains { $0.name?.bytes == command.data } ? nil : FileCardReply(0x9000)
    }

    /// What a command without data of a file gives.
    enum Answer {
        case data([UInt8])
        case parts([[UInt8]])
        case refusal(UInt16)
    }

    /// Carries out a command that no session enciphers.
    mutating func look(
        _ code: UInt8, _ data: [UInt8], _ length: Int, _ body: (inout VirtualDESFire) -> Answer
    ) -> FileCardReply {
        guard case .open(var session) = access else {
            guard data.count == length else { return FileCardReply(0x917E) }
            switch body(&self) {
            case .data(let bytes): return give(bytes)
            case .parts(let parts): return give(parts: parts)
            case .refusal(let status): return FileCardReply(status)
            }
        }
        let mode: UInt8 = session.kind == .ev2 ? 1 : 0
        guard data.count == length + (session.kind == .ev2 ? 8 : 0) else { return FileCardReply(0x917E) }
        guard session.open(code, data, header: length, mode: mode, count: 0) != nil else {
            return FileCardReply(0x911E)
        }
        switch body(&self) {
        case .data(let bytes):
            let closed = session.close(bytes, mode: mode)
            access = .open(session)
            return give(closed)
        case .parts(let parts):
            let code = session.close(parts.flatMap { $0 }, mode: mode).suffix(session.kind == .d40 ? 0 : 8)
            access = .open(session)
            return give(parts: parts.dropLast() + [(parts.last ?? []) + code])
        case .refusal(let status): return FileCardReply(status)
        }
    }

    /// Whether lists are free, or the master key opened the session.
    private var mayList: Bool {
        if current.settings & 0x02 != 0 { return true }
        if case .open(let session) = access { return session.key == 0 }
        return false
    }

    private var version: [[UInt8]] {
        let uid = isUIDHidden ? [UInt8](repeating: 0, count: 7) : uid
        return (savedVersion ?? generation.parts) + [uid + [0xBA, 0x54, 0x40, 0xE0, 0x20, 0x12, 0x21]]
    }

    private func keySettings() -> Answer {
        guard mayList else { return .refusal(0x91AE) }
        let keys = current.keys
        return .data([current.settings, UInt8(truncatingIfNeeded: keys.count) | (keys.first?.kind.bits ?? 0)])
    }

    private func keyVersion(_ number: UInt8) -> Answer {
        let versions = current.versions
        guard Int(number) < current.keys.count else { return .refusal(0x9140) }
        return .data([Int(number) < versions.count ? versions[Int(number)] : 0])
    }

    private func list() -> Answer {
        guard selected == nil else { return .refusal(0x919D) }
        guard mayList else { return .refusal(0x91AE) }
        return .data(applications.flatMap { $0.id.reversed() })
    }

    private func names() -> Answer {
        guard generation != .d40 else { return .refusal(0x911C) }
        guard selected == nil else { return .refusal(0x919D) }
        guard mayList else { return .refusal(0x91AE) }
        let named = applications.filter { !$0.name.isEmpty }
        return .parts(named.map { $0.id.reversed() + [0x10, 0xE1] + $0.name })
    }

    private func fileNumbers() -> Answer {
        guard selected != nil else { return .refusal(0x919D) }
        return mayList ? .data(current.files.keys.sorted()) : .refusal(0x91AE)
    }

    private func fileSettings(_ number: UInt8) -> Answer {
        guard selected != nil else { return .refusal(0x919D) }
        guard mayList else { return .refusal(0x91AE) }
        guard let file = current.files[number] else { return .refusal(0x91F0) }
        let head = [file.kind.rawValue, file.mode] + file.rights
        switch file.kind {
        case .standard, .backup: return .data(head + Self.field(file.bytes.count, 3))
        case .value:
            return .data(
                head + Self.field(Int(file.lower), 4) + Self.field(Int(file.upper), 4) + [0, 0, 0, 0]
                    + [file.limitedCredit ? 1 : 0])
        case .linear, .cyclic:
            return .data(
                head + Self.field(file.recordSize, 3) + Self.field(file.maxRecords, 3)
                    + Self.field(file.records.count, 3))
        }
    }

    /// CommitTransaction.
    private mutating func commit() -> Answer {
        guard !pending.isEmpty else { return .refusal(0x910C) }
        for (number, file) in pending {
            var file = file
            file.hasNewRecord = false
            current.files[number] = file
        }
        pending = [:]
        return .data([])
    }

    package static func field(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    package static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }
}
