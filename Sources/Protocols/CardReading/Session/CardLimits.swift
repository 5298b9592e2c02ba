// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import FeliCa
internal import ReaderCore

/// How much one Read Without Encryption can request from this card through this reader.
///
/// Starts with what is known about the IC and is corrected by the card's answers.
final class CardLimits {
    /// The number of blocks per command.
    private(set) var blocks: Int
    /// Whether the number of blocks is known for this IC, so that a missing answer must have another cause.
    let areKnown: Bool
    /// The number of services per command.
    private(set) var services = 16
    /// How the card encodes the position of an error in status flag 1, once that is known.
    var style: StatusFlagStyle?

    /// The successive limits when a card refuses, or does not answer, a number of blocks.
    private static let steps = [15, 12, 8, 4, 1]

    init(pmm: PMm, reader: ReaderInformation) {
        let known = ICProfile.of(pmm)?.blocksPerRead
        areKnown = known != nil
        blocks = max(1, min(known ?? 15, reader.blocksPerRead))
    }

    /// Limits for other commands of the same card, with at most so many blocks.
    init(atMost most: Int, like other: CardLimits) {
        areKnown = other.areKnown
        blocks = max(1, min(most, other.blocks))
        style = other.style
    }

    /// Goes one step down after a command of `count` blocks was too long.
    ///
    /// - Returns: whether a step was left.
    func lowerBlocks(below count: Int) -> Bool {
        guard let next = CardLimits.steps.first(where: { $0 < min(count, blocks) }) else { return false }
        blocks = next
        return true
    }

    /// Limits commands to one service from now on.
    ///
    /// - Returns: whether that is a change.
    func lowerServices() -> Bool {
        guard services > 1 else { return false }
        services = 1
        return true
    }
}

extension PMm {
    /// Returns whether a card with this IC may answer a command: it is not known to leave it unanswered.
    func mayAnswer(_ command: CommandCode) -> Bool {
        ICProfile.of(self)?.support(of: command) != .silent
    }
}
