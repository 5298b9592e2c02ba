// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// A decoder of cards on which no balance can be read: they hold none, or where they hold it is not published.
public protocol PurselessDecoder: CardDecoder {}

extension PurselessDecoder {
    /// Never.
    public var hasBalance: Bool { false }

    /// Throws always.
    ///
    /// - Throws: ``DecodingFailure`` with the reason `noBalance`, or why the block that shows the card is not there.
    public func balance(_ dump: CardDump) throws(DecodingFailure) -> BalanceReport {
        throw noBalance(dump)
    }

    /// Why there is no balance: the card is not there, or it is and has none.
    func noBalance(_ dump: CardDump) -> DecodingFailure {
        DecodingFailure(
            card: id, field: "balance", system: balanceRead.system, service: balanceRead.service,
            block: balanceRead.blocks.lowerBound, offset: 0, reason: recognises(dump) ? .noBalance : .noSuchService)
    }
}
