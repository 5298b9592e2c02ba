// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

extension FileCardState {
    /// SELECT in all its forms: by identifier, by name, by path, up and down.
    mutating func select(_ command: CommandAPDU) -> FileCardReply {
        guard command.p2 & 0xF0 == 0, !options.refusedSelections.contains(command.p2) else {
            return FileCardReply(StatusWord.wrongParameters)
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

    /// The first application whose name begins so, or the next after the current one.
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
