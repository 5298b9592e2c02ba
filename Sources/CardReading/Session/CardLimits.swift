// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import FeliCa
internal import NFCTransport

/// How much one Read Without Encryption may ask of this card through this reader; starts with what is known of the
/// IC and is corrected by what the card says.
final class CardLimits {
    /// The blocks of one command.
    private(set) var blocks: Int
    /// Whether the number of blocks is a known fact of this IC, so that silence must have another reason.
    let areKnown: Bool
    /// The services of one command.
    private(set) var services = 16
    /// How the card writes the place of an error into status flag 1, once that is known.
    var style: StatusFlagStyle?

    /// The steps down when a card refuses, or does not answer, a number of blocks.
    private static let steps = [15, 12, 8, 4, 1]

    init(pmm: PMm, reader: ReaderInformation) {
        let known = ICProfile.of(pmm)?.blocksPerRead
        areKnown = known != nil
        blocks = max(1, min(known ?? 15, reader.blocksPerRead))
    }

    /// Goes one step down after a command of `count` blocks was too long.
    ///
    /// - Returns: whether there was a step left.
    func lowerBlocks(below count: Int) -> Bool {
        guard let next = CardLimits.steps.first(where: { $0 < min(count, blocks) }) else { return false }
        blocks = next
        return true
    }

    /// Only one service a command from now on.
    ///
    /// - Returns: whether that is a change.
    func lowerServices() -> Bool {
        guard services > 1 else { return false }
        services = 1
        return true
    }
}

extension PMm {
    /// Whether a card with this IC may answer a command: it is not known to keep silent.
    func mayAnswer(_ command: CommandCode) -> Bool {
        ICProfile.of(self)?.support(of: command) != .silent
    }
}
