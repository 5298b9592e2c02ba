// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// The University Co-op's own system 8E4B, beside the prepaid money in the common area.
//
// One card (the scan of NXP TagInfo published with felica-wallet): the member number in ASCII, which agrees with that of
// 50CB, and a day four years after the start of the course. A purse in 2097 and histories in 208F and 20CF are unused
// there and stay raw; 1009, digits too, is readable and writable without a key.

extension CardKind {
    /// University Co-op membership.
    public static let coopMembership = CardKind(rawValue: "coop-member")
}

/// Decodes the Co-op's membership: number and end.
package struct CoopMembershipDecoder: PurselessDecoder {
    package let kind = CardKind.coopMembership
    package let name = LocalizedText("University Co-op membership", "大学生協 組合員証")
    /// Block 0 of service 204B.
    package let balanceRead = ReadRequest(0x8E4B, 0x204B)
    /// The blocks with number and end of membership.
    package var historyReads: [ReadRequest] { [memberRead] }

    /// 204B and 1009: the number of the member.
    package let personal = [PersonalBytes(0x8E4B, 0x204B), PersonalBytes(0x8E4B, 0x1009)]

    private let memberRead = ReadRequest(0x8E4B, 0x204B, 0..<2)

    package init() {}

    /// Decodes the digits of block 0 and the first six bytes of block 1, and the day in the bytes behind them.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        guard let blocks = dump.opened(memberRead)?.blocks else { throw noBalance(dump) }
        var report = CardReport(kind: kind, name: name, warnings: [.oneSource])
        guard let first = blocks[0], let second = blocks[1] else { return report }
        let digits = first.bytes + second.bytes.prefix(6)
        if CardText.digits(digits, count: 22) != nil {
            report.fields.append(
                CardField(
                    key: "number", name: LocalizedText("Member number", "組合員番号"), value: CardText.asciiOrHex(digits),
                    isPersonal: true))
        }
        if let day = CalendarDate(decimalYear: second[6], month: second[7], day: second[8]) {
            report.fields.append(.day("membershipEnd", "Member until", "組合員の期限", day))
        }
        return report
    }
}
