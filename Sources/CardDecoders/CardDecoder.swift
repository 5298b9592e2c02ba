// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Knows one kind of card: what to read of it, and what the bytes mean.
///
/// A decoder is a pure function of a dump. It never talks to a card, and no bytes can make it trap.
public protocol CardDecoder: Sendable {
    /// The name for scripts and for `--card`, as in `transit`; never changes.
    var id: String { get }
    /// The name for people.
    var name: LocalizedText { get }
    /// The one block that holds the balance; where there is none, a block that shows that the card is there.
    var balanceRead: ReadRequest { get }
    /// All blocks that the history and the checks on it need.
    var historyReads: [ReadRequest] { get }
    /// What on such a card tells whose it is: every byte that a personal field is taken from, and bytes that are known
    /// to hold a number or a name which is not decoded. `--redact` masks just these.
    var personal: [PersonalBytes] { get }
    /// Whether such cards hold money that this decoder can read; where not, ``balance(_:)`` always throws.
    var hasBalance: Bool { get }
    /// Whether the dump is of such a card; never without its ``system``.
    func recognises(_ dump: CardDump) -> Bool
    /// The money on the card; needs no more than ``balanceRead``.
    ///
    /// - Throws: ``DecodingFailure`` when the dump does not hold it.
    func balance(_ dump: CardDump) throws(DecodingFailure) -> BalanceReport
    /// Everything the decoder sees in the dump; what was not read is `nil` in the report.
    ///
    /// - Parameter stations: where names of places are looked up.
    /// - Throws: ``DecodingFailure`` when the dump holds nothing of such a card.
    func decode(_ dump: CardDump, stations: any StationNames) throws(DecodingFailure) -> CardReport
}

extension CardDecoder {
    /// The system that the card is found by.
    public var system: SystemCode { balanceRead.system }

    /// Most cards do.
    public var hasBalance: Bool { true }

    /// Transit cards and many others keep no number that opens without a key.
    public var personal: [PersonalBytes] { [] }

    /// Everything the decoder sees in the dump, places without names.
    ///
    /// - Throws: ``DecodingFailure`` when the dump holds nothing of such a card.
    public func decode(_ dump: CardDump) throws(DecodingFailure) -> CardReport {
        try decode(dump, stations: NoStationNames())
    }
}
