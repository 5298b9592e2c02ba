// SPDX-License-Identifier: Apache-2.0

internal import CardModel

extension LiteMemory {
    /// Which FeliCa Lite a PMm names by its IC: F0 Lite, F1 and F2 Lite-S; `nil` for all others.
    static func kind(of pmm: PMm) -> Kind? {
        switch pmm.icType {
        case 0xF0: .lite
        case 0xF1, 0xF2: .liteS
        default: nil
        }
    }

    /// The blocks that a dump holds, whichever of the two systems and services they were read through.
    static func blocks(in dump: CardDump) -> BlockTable {
        var blocks: BlockTable = [:]
        for service in dump.systems.flatMap(\.services) {
            blocks.add(missing: service.blocks)
        }
        return blocks
    }
}
