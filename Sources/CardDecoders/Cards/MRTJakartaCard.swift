// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

// Jelajah, the card of MRT Jakarta, system 9373.
//
// One source (Metrodroid): purse 10D7, laid out as KMT's 1017. How the number on the card is encoded in 100B is unknown
// even there, so its bytes are given as they are.

/// Decodes the card of MRT Jakarta: balance and last amount.
public struct MRTJakartaDecoder: CardDecoder {
    /// `mrtj`
    public let id = "mrtj"
    /// MRT Jakarta
    public let name = LocalizedText("MRT Jakarta (Jelajah)", "MRTジャカルタ（Jelajah）")
    /// Service 10D7, the purse.
    public let balanceRead = ReadRequest(0x9373, 0x10D7, 0..<1)
    /// Purse and number (100B); no history is open.
    public var historyReads: [ReadRequest] { [balanceRead, numberRead] }

    /// 100B: the number of the card.
    public let personal = [PersonalBytes(0x9373, 0x100B)]

    private let numberRead = ReadRequest(0x9373, 0x100B, 0..<1, isRequired: false)

    /// The decoder.
    public init() {}

    /// Whether the system holds purse or number.
    public func recognises(_ dump: CardDump) -> Bool { dump.holds(balanceRead) || dump.holds(numberRead) }

    /// Four bytes, little-endian, rupiah.
    public func balance(_ dump: CardDump) throws(DecodingFailure) -> BalanceReport {
        let purse = JakartaPurse(try dump.block(balanceRead, card: id, field: "balance", offset: 0))
        return BalanceReport(
            card: id, name: name, amount: purse.balance, currency: .rupiah, warnings: [.oneSource])
    }

    /// Balance, last amount, and the bytes that hold the number.
    public func decode(_ dump: CardDump, stations: any StationNames) throws(DecodingFailure) -> CardReport {
        var report = CardReport(card: id, name: name)
        let number = dump.opened(numberRead)?.blocks[0]
        try report.takeBalance(orElse: number != nil) { () throws(DecodingFailure) in try balance(dump) }
        if let number { report.fields.append(.rawNumber(number)) }
        if let purse = dump.opened(balanceRead)?.blocks[0] { report.fields += JakartaPurse(purse).fields }
        return report
    }
}

extension CardField {
    /// The bytes in which a card keeps its number in a way that nobody has published.
    static func rawNumber(_ block: Block) -> CardField {
        CardField(
            key: "numberRaw", name: LocalizedText("Card number, as stored", "カード番号(格納値)"),
            value: block.description, isPersonal: true)
    }
}
