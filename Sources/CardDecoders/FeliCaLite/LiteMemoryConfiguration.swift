// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// Block 88 of FeliCa Lite and Lite-S, MC: what may still be changed, and what needs the card key.
///
/// Bytes 0 and 1: bit n set while block n may be written (bit 14: REG); 2: FF while the system blocks may; 3, bit 0: NDEF;
/// 5, bit 0: the card key may be changed with a MAC. Lite-S has three more maps: which blocks need authentication to be
/// read (6, 7) and to be written (8, 9), and which need a MAC to be written (10, 11). Source: nfcpy.
public struct LiteMemoryConfiguration: Hashable, Sendable {
    /// Blocks that cannot be written any more, 0 to 14; 14 is REG.
    public let readOnlyBlocks: [Int]
    /// Whether the system blocks can be written; once closed they stay so.
    public let isSystemWritable: Bool
    /// Whether the card answers to the NDEF system 12FC.
    public let announcesNDEF: Bool
    /// Whether the card key can be changed with a MAC.
    public let isKeyChangeable: Bool
    /// Blocks that are read only after authentication; `nil` for FeliCa Lite, which has no such map.
    public let authenticatedReads: [Int]?
    /// Blocks that are written only after authentication; `nil` for FeliCa Lite.
    public let authenticatedWrites: [Int]?
    /// Blocks that are written only with a MAC; `nil` for FeliCa Lite.
    public let writesWithMAC: [Int]?

    /// What the block says.
    public init(_ block: Block, isLiteS: Bool) {
        func map(_ bits: UInt16) -> [Int] { (0...14).filter { bits.bits($0...$0) == 1 } }
        readOnlyBlocks = map(~block.uint16(at: 0, .little))
        isSystemWritable = block[2] == 0xFF
        announcesNDEF = block[3] & 1 == 1
        isKeyChangeable = block[5] & 1 == 1
        authenticatedReads = isLiteS ? map(block.uint16(at: 6, .little)) : nil
        authenticatedWrites = isLiteS ? map(block.uint16(at: 8, .little)) : nil
        writesWithMAC = isLiteS ? map(block.uint16(at: 10, .little)) : nil
    }

    /// All of it as fields of a report.
    public var fields: [CardField] {
        [
            list("readOnlyBlocks", "Read-only blocks", "読み取り専用ブロック", readOnlyBlocks),
            .flag("systemBlocksWritable", "System blocks can be written", "システムブロック書き込み可", isSystemWritable),
            .flag("ndef", "Announces NDEF", "NDEF対応", announcesNDEF),
            .flag("keyChangeable", "Card key can be changed with a MAC", "MAC付きの鍵変更可", isKeyChangeable),
            list("readNeedsAuthentication", "Authentication to read", "読み取りに認証が必要", authenticatedReads),
            list("writeNeedsAuthentication", "Authentication to write", "書き込みに認証が必要", authenticatedWrites),
            list("writeNeedsMAC", "MAC to write", "書き込みにMACが必要", writesWithMAC),
        ].compactMap { $0 }
    }

    /// Block numbers, as in `0 1 14`; `-` when there are none.
    private func list(_ key: String, _ english: String, _ japanese: String, _ blocks: [Int]?) -> CardField? {
        guard let blocks else { return nil }
        return CardField(
            key: key, name: LocalizedText(english, japanese),
            value: blocks.isEmpty ? "-" : blocks.map { String($0) }.joined(separator: " "), isPersonal: false)
    }
}
