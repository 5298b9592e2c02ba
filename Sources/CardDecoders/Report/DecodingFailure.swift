// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Why a card could not be decoded: what was looked for, and where.
public struct DecodingFailure: Error, Hashable, Sendable {
    /// The decoder's id.
    public let card: String
    /// What was looked for, as in `balance`.
    public let field: String
    /// The system it should be in.
    public let system: SystemCode
    /// The service it should be in.
    public let service: ServiceCode
    /// The number of the block.
    public let block: UInt16
    /// The first byte of the field within the block.
    public let offset: Int
    /// What is wrong.
    public let reason: Reason

    /// What is wrong with the bytes that were looked for.
    @nonexhaustive
    public enum Reason: String, Hashable, Sendable {
        /// The dump does not hold the service.
        case noSuchService
        /// The dump holds the service but not the block.
        case notRead
        /// The service cannot be read without a key.
        case keyRequired
        /// The card refused to give the block.
        case refused
        /// The card left before the block was read.
        case lost
        /// The card holds no money, or where it holds it is not published.
        case noBalance
    }

    /// A failure at a place of a dump.
    public init(
        card: String, field: String, system: SystemCode, service: ServiceCode, block: UInt16, offset: Int,
        reason: Reason
    ) {
        self.card = card
        self.field = field
        self.system = system
        self.service = service
        self.block = block
        self.offset = offset
        self.reason = reason
    }

    /// The sentence for people.
    public var message: LocalizedText {
        let place = "\(system)/\(service)"
        return switch reason {
        case .noSuchService:
            LocalizedText("\(card): service \(place) is not there", "\(card): サービス \(place) がありません")
        case .notRead:
            LocalizedText(
                "\(card): block \(block) of \(place) was not read", "\(card): \(place) のブロック \(block) は読み取られていません")
        case .keyRequired:
            LocalizedText("\(card): service \(place) needs a key", "\(card): サービス \(place) には鍵が必要です")
        case .refused:
            LocalizedText("\(card): the card refused service \(place)", "\(card): サービス \(place) の読み取りは拒否されました")
        case .lost:
            LocalizedText(
                "\(card): the card left before \(place) was read", "\(card): \(place) を読み取る前にカードが離れました")
        case .noBalance:
            LocalizedText("\(card): no balance is known on this card", "\(card): このカードの残高は読み取れません")
        }
    }
}

extension DecodingFailure: CustomStringConvertible {
    /// The sentence in English.
    public var description: String { message.english }
}
