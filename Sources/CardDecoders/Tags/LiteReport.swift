// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// What a dump says of a FeliCa Lite or Lite-S, which is a Type 3 Tag only while it announces NDEF.
public struct LiteReport: Hashable, Sendable {
    /// Whether it is a Lite-S, by its IC or by the blocks that FeliCa Lite lacks.
    public var isLiteS: Bool
    /// The user blocks that were read, among 0 to 13; those that need the card key are not among them.
    public var userBlocks: [Int]
    /// The data format code, which tells the issuer; `nil` when it was not read.
    public var dataFormatCode: UInt16?
    /// What may be changed; `nil` when it was not read.
    public var configuration: LiteMemoryConfiguration?

    /// What it is called.
    public var name: String { isLiteS ? "FeliCa Lite-S" : "FeliCa Lite" }

    /// Who issued it, by the data format code; `nil` when no table has that.
    public var issuer: LocalizedText? { dataFormatCode.flatMap { DecoderTables.liteIssuers[$0] } }

    /// The blocks that the user may fill, without REG.
    public static let userBlockCount = 14

    /// The card in a dump; `nil` when no block of its system was read.
    public init?(_ dump: CardDump) {
        let blocks = [0x000B, 0x0009].lazy.compactMap { dump.blocks(.lite, ServiceCode(rawValue: $0)) }.first {
            !$0.isEmpty
        }
        guard let blocks else { return nil }
        switch dump.card.pmm?.icType {
        case 0xF0: isLiteS = false
        case 0xF1, 0xF2: isLiteS = true
        default: isLiteS = blocks[0x90] != nil
        }
        userBlocks = blocks.numbers.map { Int($0) }.filter { $0 < LiteReport.userBlockCount }
        dataFormatCode = blocks[0x82].map { LiteIDBlock($0).format }
        configuration = blocks[0x88].map { [isLiteS] in LiteMemoryConfiguration($0, isLiteS: isLiteS) }
    }
}
