// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel

/// The blocks of a FeliCa Lite or Lite-S, as data format 1 keeps those of every card.
enum FlipperLite {
    /// The numbers of the blocks in the order in which the file keeps them: S_PAD0–13, REG, RC, MAC, ID, D_ID, SER_C,
    /// SYS_C, CKV, CK, MC, WCNT, MAC_A, STATE, CRC_CHECK.
    static let blockNumbers: [UInt16] =
        Array(0x00...0x0E) + Array(0x80...0x88) + Array(0x90...0x92) + [0xA0]

    /// The service that the blocks are read by.
    static let service = ServiceCode(rawValue: 0x000B)

    /// Whether a card is a FeliCa Lite, Lite-S or Link by its IC (RC-S965, RC-S966, RC-S967; nfcpy, felica-tool), or by
    /// having one of the registers that others have not.
    static func isProven(_ pmm: PMm?, _ blocks: some Sequence<UInt16>) -> Bool {
        pmm.map { (0xF0...0xF2).contains($0.icType) } ?? false || blocks.contains { $0 >= 0x80 }
    }

    /// The blocks of a dump that data format 1 can hold whole, else `nil`.
    ///
    /// The Flipper takes every card with such an IC for one with these blocks. Its NDEF system opens the same memory, so
    /// a dump in which that was not read again has a place here, too.
    static func blocks(of dump: CardDump) -> BlockTable? {
        guard let system = dump.systems.first, system.systemCode == .lite,
            dump.systems.dropFirst().allSatisfy({ isSecondView($0, of: system) }), dump.systems.count <= 2,
            let blocks = system.service(service)?.blocks, blocks.numbers.allSatisfy(blockNumbers.contains),
            isProven(dump.pmmToWrite, blocks.numbers), !system.isAssumed("systemCode"),
            system.services.allSatisfy({ $0.code == service || $0.blocks.isEmpty })
        else { return nil }
        return blocks
    }

    /// Whether a system is that of NDEF on the same memory, with no blocks of its own.
    private static func isSecondView(_ system: SystemDump, of lite: SystemDump) -> Bool {
        system.systemCode == .ndef && system.idm == lite.idm && system.pmm == lite.pmm && system.areas.isEmpty
            && system.services.allSatisfy(\.blocks.isEmpty)
    }

    /// The systems with their services in comments, which the Flipper passes over: data format 1 names neither.
    static func comments(_ dump: CardDump) -> String {
        dump.systems.map { system in
            let codes = system.services.map { " \($0.code)" }.joined()
            return "# System \(system.systemCode) services:\(codes)\n"
        }.joined()
    }

    /// The part of the file with the blocks. A block that was not read is zeros with the status flags FF FF, which no
    /// card gives for a single block.
    static func text(_ blocks: BlockTable) -> String {
        var text = "Blocks total: \(blockNumbers.count)\nBlocks read: \(blocks.count)\n"
        for (place, number) in blockNumbers.enumerated() {
            let bytes = blocks[number].map { [0, 0] + $0.bytes } ?? [0xFF, 0xFF] + Block.zero.bytes
            text += "Block \(place): \(Hex.encode(bytes, uppercase: true, separator: " "))\n"
        }
        return text
    }
}
