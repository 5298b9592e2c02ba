// SPDX-License-Identifier: Apache-2.0

/// What changes the directory of a virtual DESFire: applications, files and settings.
extension VirtualDESFire {
    /// Applications of MF3ICD40 and EV1; later cards have as many as fit.
    private static let mostApplications = 28

    /// Carries out a command that changes the directory; `nil` for another one.
    mutating func changeDirectory(_ code: UInt8, _ data: [UInt8]) -> FileCardReply? {
        let count = data.count - (isNewSession ? 8 : 0)
        switch code {
        case 0xCA: return look(code, data, count) { $0.makeApplication(Array(data.prefix(count))) }
        case 0xDA: return look(code, data, 3) { $0.deleteApplication(Array(data.prefix(3))) }
        case 0xFC: return look(code, data, 0) { $0.format() }
        case 0xCD, 0xCB, 0xCC, 0xC1, 0xC0:
            return look(code, data, count) { $0.makeFile(code, Array(data.prefix(count))) }
        case 0xDF: return look(code, data, 1) { $0.deleteFile(data[0]) }
        case 0x54: return changeSettings(data)
        default: return nil
        }
    }

    private var isNewSession: Bool {
        if case .open(let session) = access { session.kind == .ev2 } else { false }
    }

    /// The number of the key that opened the session.
    private var sessionKey: Int? {
        if case .open(let session) = access { session.key } else { nil }
    }

    private mutating func makeApplication(_ data: [UInt8]) -> Answer {
        guard selected == nil else { return .refusal(0x919D) }
        guard card.settings & 0x04 != 0 || sessionKey == 0 else { return .refusal(0x91AE) }
        guard data.count >= 5 else { return .refusal(0x917E) }
        let id = Array(data[..<3].reversed())
        let kind: DESFireChipKey.Kind
        switch data[4] & 0xC0 {
        case 0x00: kind = .des
        case 0x40: kind = .three
        case 0x80: kind = .aes
        default: return .refusal(0x919E)
        }
        guard id != [0, 0, 0], (1...14).contains(data[4] & 0x0F), kind == .des || generation != .d40 else {
            return .refusal(0x919E)
        }
        guard !applications.contains(where: { $0.id == id }) else { return .refusal(0x91DE) }
        guard generation.isNew || applications.count < Self.mostApplications else { return .refusal(0x91CE) }
        // An identifier, then a name, neither of which the oldest have.
        let rest = Array(data[5...])
        guard rest.isEmpty || generation != .d40, rest.isEmpty || (2...18).contains(rest.count) else {
            return .refusal(0x917E)
        }
        let zeros = DESFireChipKey(kind, [UInt8](repeating: 0, count: kind.length))
        let keys = [DESFireChipKey](repeating: zeros, count: Int(data[4] & 0x0F))
        var application = Application(
            id: id, settings: data[3], keys: keys, versions: [UInt8](repeating: 0, count: keys.count))
        application.name = Array(rest.dropFirst(2))
        application.hasFileNames = data[4] & 0x20 != 0
        applications.append(application)
        return .data([])
    }

    private mutating func deleteApplication(_ data: [UInt8]) -> Answer {
        let id = Array(data.reversed())
        guard let place = applications.firstIndex(where: { $0.id == id }) else { return .refusal(0x91A0) }
        guard sessionKey == 0, selected == nil || selected == place && card.settings & 0x04 != 0 else {
            return .refusal(sessionKey == nil ? 0x91AE : 0x919D)
        }
        deletedMemory += applications.remove(at: place).room
        if selected != nil { selected = nil }
        return .data([])
    }

    private mutating func format() -> Answer {
        guard selected == nil else { return .refusal(0x919D) }
        guard sessionKey == 0 else { return .refusal(0x91AE) }
        freeMemory += deletedMemory + applications.reduce(0) { $0 + $1.room }
        (applications, deletedMemory) = ([], 0)
        return .data([])
    }

    private mutating func makeFile(_ code: UInt8, _ data: [UInt8]) -> Answer {
        guard selected != nil else { return .refusal(0x919D) }
        guard current.settings & 0x04 != 0 || sessionKey == 0 else { return .refusal(0x91AE) }
        let names = current.hasFileNames ? 2 : 0
        let length = [0xCD: 3, 0xCB: 3, 0xCC: 13, 0xC1: 6, 0xC0: 6][code] ?? 0
        guard data.count == 4 + names + length, data[0] <= 31 else { return .refusal(0x917E) }
        guard current.files[data[0]] == nil else { return .refusal(0x91DE) }
        let head = Array(data[(1 + names)..<(4 + names)])
        let rest = Array(data[(4 + names)...])
        let keys = current.keys.count
        let nibbles = head[1...].flatMap { [$0 >> 4, $0 & 0x0F] }
        guard nibbles.allSatisfy({ $0 >= 0x0E || $0 < keys }), [0, 1, 3].contains(head[0]) else {
            return .refusal(0x919E)
        }
        let kinds: [UInt8: File.Kind] = [0xCD: .standard, 0xCB: .backup, 0xCC: .value, 0xC1: .linear, 0xC0: .cyclic]
        var file = File(kind: kinds[code] ?? .standard, mode: head[0], rights: Array(head[1...]))
        if names > 0 { file.name = UInt16(data[1]) | UInt16(data[2]) << 8 }
        switch file.kind {
        case .standard, .backup:
            let size = Self.number(rest[0..<3])
            guard size > 0, size <= freeMemory else { return .refusal(size == 0 ? 0x919E : 0x910E) }
            file.bytes = [UInt8](repeating: 0, count: size)
        case .value:
            func signed(_ place: Int) -> Int32 { Int32(truncatingIfNeeded: Self.number(rest[place..<place + 4])) }
            (file.lower, file.upper, file.value) = (signed(0), signed(4), signed(8))
            file.limitedCredit = rest[12] & 1 != 0
            guard file.lower <= file.value, file.value <= file.upper else { return .refusal(0x91BE) }
        case .linear, .cyclic:
            (file.recordSize, file.maxRecords) = (Self.number(rest[0..<3]), Self.number(rest[3..<6]))
            guard file.recordSize > 0, file.maxRecords > (file.kind == .cyclic ? 1 : 0) else { return .refusal(0x919E) }
        }
        guard file.room <= freeMemory else { return .refusal(0x910E) }
        freeMemory -= file.room
        current.files[data[0]] = file
        return .data([])
    }

    /// DeleteFile; its room comes back only with a format.
    private mutating func deleteFile(_ number: UInt8) -> Answer {
        guard selected != nil else { return .refusal(0x919D) }
        guard current.settings & 0x04 != 0 || sessionKey == 0 else { return .refusal(0x91AE) }
        guard let file = current.files.removeValue(forKey: number) else { return .refusal(0x91F0) }
        deletedMemory += file.room
        return .data([])
    }

    /// ChangeKeySettings.
    private mutating func changeSettings(_ data: [UInt8]) -> FileCardReply {
        guard case .open(var session) = access else { return FileCardReply(0x91AE) }
        guard session.key == 0, current.settings & 0x08 != 0 else { return FileCardReply(0x919D) }
        guard let content = session.open(0x54, data, header: 0, mode: 3, count: 1), content.count == 1 else {
            return FileCardReply(0x911E)
        }
        current.settings = content[0]
        let closed = session.close([], mode: session.kind == .ev2 ? 1 : 0)
        access = .open(session)
        return FileCardReply(closed, 0x9100)
    }
}

extension VirtualDESFire.Application {
    /// The bytes that its files take.
    var room: Int { files.values.reduce(0) { $0 + $1.room } }
}

extension VirtualDESFire.File {
    /// The bytes that it takes of the card's memory, in blocks of 32.
    var room: Int {
        func blocks(_ count: Int) -> Int { (count + 31) / 32 * 32 }
        switch kind {
        case .standard: return blocks(bytes.count)
        case .backup: return 2 * blocks(bytes.count)
        case .value: return 32
        case .linear, .cyclic: return blocks(recordSize * maxRecords)
        }
    }
}
