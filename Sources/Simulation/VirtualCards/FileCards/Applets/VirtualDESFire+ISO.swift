// SPDX-License-Identifier: Apache-2.0

/// The commands of ISO 7816 that a virtual DESFire understands: everybody's files by their identifiers, as phones read them.
extension VirtualDESFire {
    /// Answers a command of ISO 7816 for the files of an application that was selected by its name; `nil` where the card
    /// file's own files answer.
    mutating func answerISO(_ command: CommandAPDU) -> FileCardReply? {
        guard command.classByte == 0x00, selected != nil, current.hasFileNames else { return nil }
        switch (command.instruction, command.p1) {
        case (0xA4, 0x00), (0xA4, 0x02):
            let id = command.data.reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
            guard command.data.count == 2, let file = current.files.first(where: { $0.value.name == id }) else {
                return FileCardReply(0x6A82)
            }
            opened = file.key
            return FileCardReply(0x9000)
        case (0xB0, 0x00..<0x80):
            guard let file = opened.flatMap({ current.files[$0] }) else { return FileCardReply(0x6986) }
            guard file.rights[1] >> 4 == 0x0E || file.rights[0] >> 4 == 0x0E else { return FileCardReply(0x6982) }
            let offset = Int(command.parameters)
            guard offset <= file.bytes.count else { return FileCardReply(0x6B00) }
            return FileCardReply(Array(file.bytes[offset...].prefix(command.expected ?? 0)), 0x9000)
        case (0xD6, 0x00..<0x80):
            guard let number = opened, var file = current.files[number], file.kind == .standard else {
                return FileCardReply(0x6986)
            }
            guard file.rights[1] & 0x0F == 0x0E || file.rights[0] >> 4 == 0x0E else { return FileCardReply(0x6982) }
            let offset = Int(command.parameters)
            guard offset + command.data.count <= file.bytes.count else { return FileCardReply(0x6B00) }
            file.bytes.replaceSubrange(offset..<offset + command.data.count, with: command.data)
            current.files[number] = file
            return FileCardReply(0x9000)
        default: return nil
        }
    }
}
