// SPDX-License-Identifier: Apache-2.0

/// The sizes of MIFARE Classic, with how their blocks are divided into sectors.
///
/// Sectors 0 to 31 have four blocks, later ones of a 4K sixteen; the last block of a sector is its trailer. Sources: NXP
/// MF1S50YYX and MF1S70YYX data sheets; libfreefare.
@nonexhaustive
public enum ClassicKind: String, Hashable, Sendable, CaseIterable {
    /// 5 sectors, 20 blocks.
    case mini = "Mini"
    /// 16 sectors, 64 blocks.
    case k1 = "1K"
    /// 32 sectors, 128 blocks.
    case k2 = "2K"
    /// 40 sectors, 256 blocks.
    case k4 = "4K"

    /// The kind of a card, by the SAK; `nil` if it is neither a MIFARE Classic nor a card that emulates one.
    package init?(sak: UInt8) {
        switch sak {
        case 0x09: self = .mini
        case 0x08, 0x88, 0x28, 0x68: self = .k1
        case 0x19: self = .k2
        case 0x18, 0x38: self = .k4
        default: return nil
        }
    }

    /// The kind with a memory of this many bytes.
    package init?(byteCount: Int) {
        guard let kind = Self.allCases.first(where: { $0.blockCount * ClassicKind.blockSize == byteCount }) else {
            return nil
        }
        self = kind
    }

    /// The bytes of a block.
    package static let blockSize = 16

    /// The number of sectors.
    public var sectorCount: Int {
        switch self {
        case .mini: 5
        case .k1: 16
        case .k2: 32
        case .k4: 40
        }
    }

    /// The number of blocks, trailers included.
    public var blockCount: Int { Self.firstBlock(of: sectorCount) }

    /// The sector of a block.
    public static func sector(of block: Int) -> Int { block < 128 ? block / 4 : 32 + (block - 128) / 16 }

    /// The first block of a sector.
    package static func firstBlock(of sector: Int) -> Int { sector < 32 ? sector * 4 : 128 + (sector - 32) * 16 }

    /// The trailer of a sector.
    public static func trailer(of sector: Int) -> Int { firstBlock(of: sector + 1) - 1 }

    /// The blocks of a sector, its trailer included.
    public static func blocks(of sector: Int) -> Range<Int> { firstBlock(of: sector)..<firstBlock(of: sector + 1) }

    /// The data blocks of a sector that share an access condition, 0 to 2: one block, or five of a sector of sixteen.
    package static func blocks(of sector: Int, group: Int) -> Range<Int> {
        let size = sector < 32 ? 1 : 5
        let first = firstBlock(of: sector) + size * min(max(group, 0), 2)
        return first..<first + size
    }

    /// Which of the four access conditions of its sector a block has: 3 for the trailer.
    package static func conditionIndex(of block: Int) -> Int {
        let sector = sector(of: block)
        let place = block - firstBlock(of: sector)
        return sector < 32 ? place : place / 5
    }
}
