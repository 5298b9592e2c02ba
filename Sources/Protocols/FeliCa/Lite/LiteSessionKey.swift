// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCiphers
package import CardModel

/// What the card key and the random challenge (RC) make: the key of one session, and its MACs.
///
/// The card calculates least significant byte first, DES most significant byte first: so every group of eight bytes is
/// reversed before and after. Sources: nfcpy `tt3_sony.py`, M5Unit-NFC; vectors in the tests.
package struct LiteSessionKey: Sendable {
    /// SK1 and SK2.
    private let reading: TripleDESKey
    /// SK2 and SK1.
    private let writing: TripleDESKey
    /// The first half of RC: the initial value of every MAC.
    private let start: UInt64

    /// Makes the key of the session that begins when `challenge` is written to RC.
    ///
    /// - Returns: `nil` never: DES takes every key.
    package init?(_ key: LiteKey, challenge: Block) {
        start = challenge.number(at: 0, count: 8, .little)
        guard var bytes = try? key.cipher.encrypt(LiteBytes.turned(challenge.bytes)) else { return nil }
        defer { bytes.wipe() }
        var swapped = Array(bytes.suffix(8) + bytes.prefix(8))
        defer { swapped.wipe() }
        guard let reading = try? TripleDESKey(SecretBytes(bytes)), let writing = try? TripleDESKey(SecretBytes(swapped))
        else { return nil }
        (self.reading, self.writing) = (reading, writing)
    }

    /// The MAC (81) of the blocks that are read in one command.
    package func mac(of data: [Block]) -> [UInt8] { mac(data.flatMap(\.bytes), reading) }

    /// The MAC_A (91) of the blocks that are read in one command.
    ///
    /// - Parameter list: the numbers of all blocks of the command, with 91.
    package func macA(of data: [Block], list: [UInt16]) -> [UInt8] {
        var head = ByteWriter()
        for place in 0..<4 { head.write(place < list.count ? list[place] : 0xFFFF, .little) }
        return mac(head.bytes + data.flatMap(\.bytes), reading)
    }

    /// The contents of block 91 for writing a block.
    ///
    /// - Parameter count: the value of WCNT before the write.
    package func macA(writing data: Block, to number: UInt16, count: UInt32) -> Block {
        var head = ByteWriter()
        head.write(count & 0xFF_FFFF, .little)
        head.write(number, .little)
        head.write(UInt16(0x91), .little)
        let code = mac(head.bytes + data.bytes, writing)
        return Block(code + head.bytes.prefix(3) + [0, 0, 0, 0, 0]) ?? .zero
    }

    private func mac(_ bytes: [UInt8], _ key: TripleDESKey) -> [UInt8] {
        let cipher = (try? key.encrypt(LiteBytes.turned(bytes), after: start)) ?? []
        return cipher.suffix(8).reversed()
    }
}

enum LiteBytes {
    /// Each group of eight bytes in reverse order.
    static func turned(_ bytes: [UInt8]) -> [UInt8] {
        var turned: [UInt8] = []
        turned.reserveCapacity(bytes.count)
        for start in stride(from: 0, to: bytes.count, by: 8) { turned += bytes[start...].prefix(8).reversed() }
        return turned
    }
}
