// SPDX-License-Identifier: Apache-2.0

package import CardModel

// QUICPay, in the common area FE00; on dedicated cards in the systems 8182 (ANA QUICPay+nanaco) and 8CC1 (Speedpass).
//
// Known (TRETJapanNFCReader, felica-tool): the services. The meaning of their blocks was not published with evidence,
// so nothing is decoded. 104B of 8182 and 8CC1 contains the name of the holder: its presence is reported, the name is
// not.

extension CardKind {
    /// QUICPay.
    public static let quicpay = CardKind(rawValue: "quicpay")
    /// ANA QUICPay+nanaco.
    public static let quicpayAna = CardKind(rawValue: "quicpay-ana")
    /// Speedpass.
    public static let speedpass = CardKind(rawValue: "speedpass")
}

/// Recognizes QUICPay; a QUICPay card holds no money.
package struct QuicPayDecoder: PurselessDecoder {
    package let kind: CardKind
    package let name: LocalizedText
    /// Block 0 of the service that identifies the card.
    package let balanceRead: ReadRequest
    /// The same block.
    package var historyReads: [ReadRequest] { [balanceRead] }

    /// The identification or card data, the holder, and the profiles.
    package let personal: [PersonalBytes]

    private let holderRead: ReadRequest?

    init(kind: CardKind, name: LocalizedText, system: UInt16, service: UInt16, holder: UInt16?, profiles: [UInt16]) {
        self.kind = kind
        self.name = name
        balanceRead = ReadRequest(system, service)
        holderRead = holder.map { ReadRequest(system, $0) }
        personal = ([service] + profiles + (holder.map { [$0] } ?? [])).map { PersonalBytes(system, $0) }
    }

    /// QUICPay in the common area: card data in 35CB.
    package static let commonArea = QuicPayDecoder(
        kind: .quicpay, name: LocalizedText("QUICPay", "QUICPay"), system: 0xFE00, service: 0x35CB, holder: nil,
        profiles: [0x360B])
    /// ANA QUICPay+nanaco of system 8182: identification in 100B.
    package static let ana = QuicPayDecoder(
        kind: .quicpayAna, name: LocalizedText("ANA QUICPay+nanaco", "ANA QUICPay+nanaco"), system: 0x8182,
        service: 0x100B, holder: 0x104B, profiles: [0x110B, 0x120B, 0x130B])
    /// Speedpass of system 8CC1: identification in 100B.
    package static let speedpass = QuicPayDecoder(
        kind: .speedpass, name: LocalizedText("Speedpass", "スピードパス"), system: 0x8CC1, service: 0x100B, holder: 0x104B,
        profiles: [0x110B, 0x120B, 0x130B])

    /// Reports that the card is present, and whether it names its holder.
    ///
    /// - Throws: ``CardDecodingError`` when the dump is not of such a card.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        guard recognizes(dump) else { throw noBalance(dump) }
        var report = CardReport(kind: kind, name: name, warnings: [.layoutNotPublished])
        if let holderRead, dump.holds(holderRead) {
            report.fields.append(
                CardField(
                    key: "holder", name: LocalizedText("Holder", "会員名"), value: "present",
                    label: LocalizedText("on the card, not shown", "記録あり（表示しません）"), isPersonal: false))
        }
        return report
    }
}
