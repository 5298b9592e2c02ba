// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

extension FileCardState {
    /// Where a read or a write goes: to a file of the current directory, or nowhere for a reason.
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

    // MARK: Records

    /// The records of the file that P2 names, when its low bits say that P1 is a record's number.
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
