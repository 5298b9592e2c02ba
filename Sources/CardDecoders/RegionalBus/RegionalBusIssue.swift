// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// Block 1 of service 804B: the day of issue in bytes 0 and 1, the number of the card in bytes 8 to 15.
/// Source: toyowata's readers, for ecomyca, passca and Ryuto.
enum RegionalBusIssue {
    static func fields(_ block: Block) -> [CardField] {
        let day = CalendarDate(packed: block.uint16(at: 0, .big))
        let number = CardField(
            key: "number", name: LocalizedText("Card number", "カード番号"),
            value: Hex.encode(block.bytes.suffix(8), uppercase: true), isPersonal: true)
        return (day.map { [CardField.issueDate($0)] } ?? []) + [number]
    }
}
