// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import FeliCa

/// The fixed layout of FeliCa Lite and Lite-S.
enum LiteLayout {
    /// The IC types that have it: Lite (F0), Lite-S (F1) and Link in Lite-S mode (F2).
    static func applies(to pmm: PMm) -> Bool { (0xF0...0xF2).contains(pmm.icType) }

    /// The service that only reads; all blocks are read through it.
    static let readOnly = ServiceCode(rawValue: 0x000B)

    /// Both services, over the same blocks.
    static let services = [ServiceCode(rawValue: 0x0009), readOnly]

    /// The blocks that exist and are not write-only.
    static func readableBlocks(pmm: PMm) -> [UInt16] {
        LiteBlock.readableNumbers(liteS: pmm.icType != 0xF0)
    }
}
