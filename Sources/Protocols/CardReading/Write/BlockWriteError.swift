// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Why blocks of a FeliCa Standard were not written, or not surely.
///
/// Nothing was written with any of these but ``notReadBack``, ``notVerified(block:)`` and ``unconfirmed``.
@nonexhaustive
public enum BlockWriteError: Error, Hashable, Sendable {
    /// The kinds of access that a service may lack.
    @nonexhaustive
    public enum Need: Hashable, Sendable {
        /// Writing blocks.
        case write
        /// Taking from a purse.
        case decrement
        /// Giving back to a purse.
        case cashback
    }

    /// The service does not allow it.
    case notAllowed(ServiceCode, Need)
    /// Of a cyclic service, only block 0 is written, which becomes the newest.
    case notNewest(ServiceCode)
    /// So many blocks do not fit into one command.
    case tooManyBlocks(Int, most: Int)
    /// The service has no such block.
    case noSuchBlock(ServiceCode, UInt16)
    /// The purse has less, or less was taken from it last.
    case purseRange(value: UInt32, last: UInt32)
    /// Keys did not open the service.
    case key(StandardKeyError)
    /// The card refused.
    case refused(ServiceCode, RefusalReason)
    /// The card does not answer the command, and did not carry it out.
    case unanswered(ServiceCode)
    /// The blocks are no longer as they were planned.
    case changed(block: UInt16)
    /// The card said that it wrote, and left before the blocks were read back.
    case notReadBack
    /// A block that was read back is not what was written.
    case notVerified(block: UInt16)
    /// No answer came, and the card could not be asked whether it wrote.
    case unconfirmed
    /// Reading ended before anything was written.
    case reading(ReadingError)
}

extension BlockWriteError: SelfDescribing {
    /// Why, and whether anything was written.
    public var message: LocalizedText {
        switch self {
        case .notAllowed(let service, let need): Self.message(service, need)
        case .notNewest(let service):
            LocalizedText(
                "service \(service) is cyclic: only block 0 is written, and becomes the newest",
                "サービス \(service) はサイクリックです。書き込めるのはブロック 0（最新）だけです")
        case .tooManyBlocks(let count, let most):
            LocalizedText(
                "\(count) blocks do not fit into one command: at most \(most)",
                "\(count) ブロックは 1 回のコマンドに入りません（最大 \(most)）")
        case .noSuchBlock(let service, let number):
            LocalizedText(
                "service \(service) has no block \(number)", "サービス \(service) にブロック \(number) はありません")
        case .purseRange(let value, let last):
            LocalizedText(
                "the purse has \(value), and \(last) were taken last", "パースの残高は \(value)、直前の減算額は \(last) です")
        case .key(let error): error.message
        case .refused(let service, let reason):
            reason.message(LocalizedText("the write to service \(service)", "サービス \(service) への書き込み"))
        case .unanswered(let service):
            LocalizedText(
                "the card does not answer writes to service \(service); nothing was written",
                "サービス \(service) への書き込みにカードが応答しません（書き込まれていません）")
        case .changed(let number):
            LocalizedText(
                "block \(number) has changed since it was shown; nothing was written",
                "ブロック \(number) が確認後に変わったため、書き込みませんでした")
        case .notReadBack:
            LocalizedText(
                "the card confirmed the write, but left before the blocks were read back",
                "カードは書き込み完了と応答しましたが、照合の前にカードが離れました")
        case .notVerified(let number):
            LocalizedText("block \(number) is not what was written", "ブロック \(number) の内容が書き込んだものと違います")
        case .unconfirmed:
            LocalizedText(
                "the card left before it could be asked whether it wrote", "書き込まれたかを確かめる前にカードが離れました")
        case .reading(let error): error.message
        }
    }

    private static func message(_ service: ServiceCode, _ need: Need) -> LocalizedText {
        switch need {
        case .write:
            LocalizedText("service \(service) does not allow writing", "サービス \(service) は書き込めません")
        case .decrement:
            LocalizedText("service \(service) does not allow decrements", "サービス \(service) では減算できません")
        case .cashback:
            LocalizedText("service \(service) does not allow cashback", "サービス \(service) ではキャッシュバックできません")
        }
    }
}
