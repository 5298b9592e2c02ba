// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

extension FileCardState {
    /// The target of a read or a write: a file of the current directory, or the reason why there is none.
    private enum Target {
        case file(Int)
        case refused(UInt16)
    }

    private func currentFile() -> Target {
        guard !tree[directory].isLocked else { return .refused(StatusWord.securityNotSatisfied) }
        switch current {
        case .none: return .refused(StatusWord.noCurrentFile)
        case .pin: return .refused(StatusWord.wrongFileStructure)
        case .file(let index): return .file(index)
        }
    }

    /// The file with this short identifier becomes the current one; 0 means the current one.
    private mutating func file(shortID: UInt8) -> Target {
        guard shortID != 0 else { return currentFile() }
        guard let index = tree[directory].files.firstIndex(where: { $0.shortID == shortID }) else {
            return .refused(StatusWord.fileNotFound)
        }
        current = .file(index)
        return currentFile()
    }

    private func refusal(_ access: FileAccess) -> UInt16? {
        switch access {
        case .always: nil
        case .never(let status): status
        case .pins(let names): verified.isSuperset(of: names) ? nil : StatusWord.securityNotSatisfied
        }
    }

    // MARK: Transparent files

    /// P1 with bit 8 is a short identifier, P2 then the offset; else both are an offset of 15 bits.
    private mutating func binary(_ command: CommandAPDU) -> (target: Target, offset: Int) {
        guard command.p1 & 0x80 != 0 else { return (currentFile(), Int(command.parameters)) }
        guard command.p1 & 0x60 == 0 else { return (.refused(StatusWord.wrongParameters), 0) }
        return (file(shortID: command.p1 & 0x1F), Int(command.p2))
    }

    mutating func readBinary(_ command: CommandAPDU) -> FileCardReply {
        let (target, offset) = binary(command)
        guard let expected = command.expected, command.data.isEmpty else {
            return FileCardReply(StatusWord.wrongLength)
        }
        let isAll = expected == (command.isExtended ? 65_536 : 256)
        return read(target, offset, expected, isAll: isAll)
    }

    private func read(_ target: Target, _ offset: Int, _ expected: Int, isAll: Bool) -> FileCardReply {
        let file: VirtualFile
        switch target {
        case .refused(let status): return FileCardReply(status)
        case .file(let index): file = tree[directory].files[index]
        }
        guard case .bytes(let bytes) = file.content else { return FileCardReply(StatusWord.wrongFileStructure) }
        if let refusal = refusal(file.read) { return FileCardReply(refusal) }
        if file.isEncrypted { return FileCardReply(StatusWord.securityNotSatisfied) }
        guard offset < bytes.count || offset == 0 else { return FileCardReply(StatusWord.wrongOffset) }
        let rest = bytes.dropFirst(offset)
        let part = Array(rest.prefix(min(expected, options.longestRead)))
        guard rest.count < expected else { return FileCardReply(part) }
        switch options.endOfFile {
        case .warning: return FileCardReply(part, isAll ? StatusWord.success : StatusWord.endOfFile)
        case .success: return FileCardReply(part)
        case .wrongOffset: return FileCardReply(isAll ? part : [], isAll ? StatusWord.success : StatusWord.wrongOffset)
        case .wrongLength:
            if isAll { return FileCardReply(part) }
            return FileCardReply(FileCardState.status(StatusWord.wrongExpectedLength, rest.count))
        }
    }

    /// INS B1: the file in P1 and P2, the offset in a data object 54, the data in an object 53.
    mutating func readBinaryByObject(_ command: CommandAPDU) -> FileCardReply {
        var reader = ByteReader(command.data)
        guard (try? reader.readUInt8()) == 0x54, let length = try? reader.readUInt8(), (1...3).contains(length),
            let digits = try? reader.readBytes(Int(length)), reader.remaining == 0, let expected = command.expected
        else { return FileCardReply(StatusWord.wrongLength) }
        let offset = digits.reduce(0) { $0 << 8 | Int($1) }
        let target: Target
        if command.parameters < 0x1F {
            target = file(shortID: command.p2)
        } else {
            guard let index = tree[directory].files.firstIndex(where: { $0.id.rawValue == command.parameters }) else {
                return FileCardReply(StatusWord.fileNotFound)
            }
            current = .file(index)
            target = currentFile()
        }
        var reply = read(target, offset, max(0, expected - 5), isAll: expected >= 256)
        guard reply.status == StatusWord.success || reply.status == StatusWord.endOfFile else { return reply }
        let count = reply.data.count
        let (high, low) = (UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count))
        reply.data = [0x53] + (count < 0x80 ? [low] : count < 0x100 ? [0x81, low] : [0x82, high, low]) + reply.data
        return reply
    }

    mutating func updateBinary(_ command: CommandAPDU) -> FileCardReply {
        let (target, offset) = binary(command)
        guard !command.data.isEmpty else { return FileCardReply(StatusWord.wrongLength) }
        guard case .file(let index) = target else {
            if case .refused(let status) = target { return FileCardReply(status) }
            return FileCardReply(StatusWord.noCurrentFile)
        }
        let file = tree[directory].files[index]
        guard case .bytes(var bytes) = file.content else { return FileCardReply(StatusWord.wrongFileStructure) }
        if let refusal = refusal(file.update) { return FileCardReply(refusal) }
        guard offset < bytes.count else { return FileCardReply(StatusWord.wrongOffset) }
        guard offset + command.data.count <= bytes.count else { return FileCardReply(StatusWord.noSpace) }
        bytes.replaceSubrange(offset..<offset + command.data.count, with: command.data)
        tree[directory].files[index].content = .bytes(bytes)
        return FileCardReply(StatusWord.success)
    }

    /// The bytes that a read in secure messaging wants, or why it is refused.
    enum SecureContent {
        case content([UInt8], offset: Int)
        case refused(UInt16)
    }

    /// Looks up the file of a read in secure messaging, which becomes the current one.
    mutating func content(_ command: CommandAPDU, isSecure: Bool) -> SecureContent {
        let (target, offset) = binary(command)
        let file: VirtualFile
        switch target {
        case .refused(let status): return .refused(status)
        case .file(let index): file = tree[directory].files[index]
        }
        guard case .bytes(let bytes) = file.content else { return .refused(StatusWord.wrongFileStructure) }
        if let refusal = refusal(file.read) { return .refused(refusal) }
        guard file.isEncrypted == isSecure else { return .refused(StatusWord.noSecureMessaging) }
        return .content(bytes, offset: offset)
    }

    // MARK: Records

    /// The records of the file that P2 names, when its low bits say that P1 is a record number.
    private mutating func records(_ command: CommandAPDU) -> (target: Target, number: Int) {
        guard command.p2 & 0x07 == 0x04, command.p1 != 0 else { return (.refused(StatusWord.wrongParameters), 0) }
        return (file(shortID: command.p2 >> 3), Int(command.p1) - 1)
    }

    mutating func readRecord(_ command: CommandAPDU) -> FileCardReply {
        let (target, number) = records(command)
        guard case .file(let index) = target else {
            if case .refused(let status) = target { return FileCardReply(status) }
            return FileCardReply(StatusWord.noCurrentFile)
        }
        let file = tree[directory].files[index]
        guard case .records(let records) = file.content else { return FileCardReply(StatusWord.wrongFileStructure) }
        if let refusal = refusal(file.read) { return FileCardReply(refusal) }
        guard let record = records.element(at: number) else { return FileCardReply(StatusWord.recordNotFound) }
        return FileCardReply(record)
    }

    mutating func updateRecord(_ command: CommandAPDU) -> FileCardReply {
        let (target, number) = records(command)
        guard case .file(let index) = target else {
            if case .refused(let status) = target { return FileCardReply(status) }
            return FileCardReply(StatusWord.noCurrentFile)
        }
        let file = tree[directory].files[index]
        guard case .records(var records) = file.content else { return FileCardReply(StatusWord.wrongFileStructure) }
        if let refusal = refusal(file.update) { return FileCardReply(refusal) }
        guard records.indices.contains(number) else { return FileCardReply(StatusWord.recordNotFound) }
        guard command.data.count == records[number].count else { return FileCardReply(StatusWord.wrongLength) }
        records[number] = command.data
        tree[directory].files[index].content = .records(records)
        return FileCardReply(StatusWord.success)
    }
}

extension FileCardState {
    /// SELECT in all its forms: by identifier, by name, by path, up and down.
    package mutating func select(_ command: CommandAPDU) -> FileCardReply {
        guard command.p2 & 0xF0 == 0, !options.refusedSelections.contains(command.p2) else {
            return FileCardReply(StatusWord.wrongParameters)
        }
        if command.expected != nil, let status = options.selectionWithLe {
            return FileCardReply(status)
        }
        if command.expected == nil, command.p1 == 0x04, let status = options.selectionWithoutLe {
            return FileCardReply(status)
        }
        let isFound: Bool
        switch command.p1 {
        case 0x00: isFound = command.data.isEmpty ? enter(0) : selectByID(command.data)
        case 0x01: isFound = identifier(command.data).map { enterApplication($0) } ?? false
        case 0x02: isFound = identifier(command.data).map { selectFile($0) } ?? false
        case 0x03: isFound = command.data.isEmpty && enter(0)
        case 0x04: isFound = selectByName(command.data, occurrence: command.p2 & 0x03)
        case 0x08: isFound = enter(0) && follow(command.data)
        case 0x09: isFound = follow(command.data)
        default: return FileCardReply(StatusWord.wrongParameters)
        }
        guard isFound else { return FileCardReply(StatusWord.fileNotFound) }
        let isDirectory = current == .none
        for place in tree.applets.indices { tree.applets[place].select() }
        if isDirectory, tree[directory].isLocked { return FileCardReply(StatusWord.applicationLocked) }
        guard isDirectory, command.p2 & 0x0C != 0x0C else { return FileCardReply(StatusWord.success) }
        return FileCardReply(tree[directory].information)
    }

    private func identifier(_ data: [UInt8]) -> FileIdentifier? {
        guard data.count == 2 else { return nil }
        return FileIdentifier(rawValue: UInt16(data[0]) << 8 | UInt16(data[1]))
    }

    /// Makes a directory the current one.
    private mutating func enter(_ number: Int) -> Bool {
        if number != directory, directory != 0 {
            verified.subtract(tree[directory].pins.map(\.name))
        }
        directory = number
        current = .none
        return true
    }

    private mutating func selectByID(_ data: [UInt8]) -> Bool {
        guard let id = identifier(data) else { return false }
        if id == .masterFile { return enter(0) }
        return selectFile(id) || enterApplication(id)
    }

    private mutating func enterApplication(_ id: FileIdentifier) -> Bool {
        guard let index = tree.applications.firstIndex(where: { $0.id == id }) else { return false }
        return enter(index + 1)
    }

    /// A file or a PIN under the current directory.
    private mutating func selectFile(_ id: FileIdentifier) -> Bool {
        let own = tree[directory]
        if let index = own.files.firstIndex(where: { $0.id == id }) {
            current = .file(index)
        } else if let index = own.pins.firstIndex(where: { $0.id == id }) {
            current = .pin(index)
        } else {
            return false
        }
        return true
    }

    /// Selects the first application whose name has this prefix, or the next after the current one.
    private mutating func selectByName(_ name: [UInt8], occurrence: UInt8) -> Bool {
        guard !name.isEmpty, occurrence == 0x00 || occurrence == 0x02 else { return false }
        let first = occurrence == 0x02 ? directory : 0
        let found = tree.applications.indices.first { index in
            index >= first && (tree.applications[index].name?.bytes.starts(with: name) ?? false)
        }
        return found.map { enter($0 + 1) } ?? false
    }

    private mutating func follow(_ path: [UInt8]) -> Bool {
        guard !path.isEmpty, path.count.isMultiple(of: 2) else { return false }
        for start in stride(from: 0, to: path.count, by: 2) {
            guard selectByID(Array(path[start..<start + 2])) else { return false }
        }
        return true
    }
}
