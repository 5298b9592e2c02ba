// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto

/// What changes an NTAG 424 DNA: keys, settings of files, the configuration. Each takes effect whole or not at all.
///
/// Written by hand from the data sheet's examples; it shares nothing with the side that sends these.
extension VirtualNTAG424 {
    /// ChangeKey, in a session of key 0: of key 0 itself the new key and its version, else the difference to the old key, the
    /// version and the CRC of the new one.
    mutating func changeKey(_ data: [UInt8], _ session: inout Session) -> FileCardReply {
        guard session.key == 0 else { return FileCardReply(0x919D) }
        guard let content = Self.opened(0xC4, data, header: 1, mode: 3, &session) else { return FileCardReply(0x911E) }
        let number = Int(data[0])
        guard keys.indices.contains(number) else { return FileCardReply(0x9140) }
        guard content.count == (number == 0 ? 17 : 21) else { return FileCardReply(0x917E) }
        var new = Array(content[..<16])
        if number != 0 {
            for place in new.indices { new[place] ^= keys[number][place] }
            guard Self.checksum(new) == Array(content[17...]) else { return FileCardReply(0x911E) }
        }
        while versions.count < keys.count { versions.append(0) }
        keys[number] = new
        versions[number] = content[16]
        return number == 0 ? FileCardReply(0x9100) : Self.closed([], mode: 1, &session)
    }

    /// CRC-32 without the inversion at its end, least significant byte first.
    private static func checksum(_ bytes: [UInt8]) -> [UInt8] {
        var value: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            value ^= UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }
        return (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// ChangeFileSettings, in a session of the key that has the right to change.
    mutating func changeSettings(
        _ data: [UInt8], _ session: inout Session, on card: FileCardState
    ) -> FileCardReply {
        guard let number = data.first, let file = file(number, on: card) else { return FileCardReply(0x91F0) }
        let before = options(of: number)
        guard Int(before[1] & 0x0F) == session.key else { return FileCardReply(0x919D) }
        guard let content = Self.opened(0x5F, data, header: 1, mode: 3, &session) else { return FileCardReply(0x911E) }
        guard content.count >= 3 else { return FileCardReply(0x917E) }
        guard areValid(content, size: file.bytes.count), number == 2 || content[0] & 0x40 == 0 else {
            return FileCardReply(0x919E)
        }
        settings[number] = content
        if content[0] & 0x40 != 0, before[0] & 0x40 == 0 { readings = 0 }
        return Self.closed([], mode: 1, &session)
    }

    /// SetConfiguration, in a session of key 0.
    mutating func configure(_ data: [UInt8], _ session: inout Session) -> FileCardReply {
        guard session.key == 0 else { return FileCardReply(0x919D) }
        guard let content = Self.opened(0x5C, data, header: 1, mode: 3, &session) else { return FileCardReply(0x911E) }
        switch (data[0], content.count) {
        case (0x00, 1):
            // The random UID cannot be switched off.
            guard content[0] & ~0x02 == 0 else { return FileCardReply(0x919E) }
            if content[0] & 0x02 != 0 { isUIDHidden = true }
        case (0x05, 10):
            // Nor LRP. The answer has no code.
            guard content[4] & ~0x02 == 0, isLRP || content.enumerated().allSatisfy({ $0 == 4 || $1 == 0 }) else {
                return FileCardReply(0x919E)
            }
            guard content[4] == 0x02, !isLRP else { break }
            isLRP = true
            return FileCardReply(0x9100)
        case (0x04, 2), (0x0A, 5), (0x0B, 1): break
        default: return FileCardReply(0x919E)
        }
        return Self.closed([], mode: 1, &session)
    }

    /// Whether FileOption, rights and SDM part are such as a file of this size can have.
    func areValid(_ bytes: [UInt8], size: Int) -> Bool {
        guard bytes.count >= 3, bytes[0] & ~0x43 == 0 else { return false }
        guard bytes[0] & 0x40 != 0 else { return bytes.count == 3 }
        return Mirrors(bytes, size: size, isLRP: isLRP) != nil
    }
}
