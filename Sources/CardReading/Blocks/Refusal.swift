// SPDX-License-Identifier: Apache-2.0

public import FeliCa

/// How a card, although it is there, did not give what was asked for.
public enum Refusal: Hashable, Sendable {
    /// With these status flags.
    case flags(StatusFlags)
    /// By silence.
    case silence

    /// Status flags 1 and 2 as one number, `nil` for silence.
    public var status: UInt16? {
        switch self {
        case .flags(let flags): flags.value
        case .silence: nil
        }
    }
}
