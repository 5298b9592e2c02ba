// SPDX-License-Identifier: Apache-2.0

/// What became of a part of a card that was to be read.
public enum ReadState: Hashable, Sendable {
    /// All of it was read.
    case read
    /// It cannot be read without a key.
    case keyRequired
    /// The card refused with these status flags (FeliCa: SF1 SF2) or status word; `nil` when it only kept silent.
    case refused(status: UInt16?)
    /// The card left, or the radio failed, before all of it was read.
    case lost
    /// It was not asked for, or it is the same as another part that was read.
    case skipped

    /// The word in `kazasu.dump/1`.
    public var word: String {
        switch self {
        case .read: "read"
        case .keyRequired: "keyRequired"
        case .refused: "refused"
        case .lost: "lost"
        case .skipped: "skipped"
        }
    }
}
