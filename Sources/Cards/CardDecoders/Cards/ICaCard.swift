// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// ICa of Hokuriku Railroad (Kanazawa), system 80EF.
//
// One source: the balance in bytes 13 and 14 of 898F. The other bytes of a record are unpublished.

extension CardKind {
    /// ICa.
    public static let ica = CardKind(rawValue: "ica")
}

/// Decodes ICa: the balance, from the newest block of its history.
package struct ICaDecoder: HistoryBalanceDecoder {
    package let kind = CardKind.ica
    package let name = LocalizedText("ICa", "ICa（アイカ）")
    /// The twenty blocks of service 898F.
    package let historyRead = ReadRequest(0x80EF, 0x898F, 0..<20)
    package let balanceOffset = 13

    package init() {}

    /// The balance: bytes 13 and 14, big-endian, yen.
    package func record(_ block: Block) -> HistoryRecord? {
        HistoryRecord(serial: nil, kind: .other, balance: Int(block.uint16(at: 13, .big)), raw: block)
    }
}
