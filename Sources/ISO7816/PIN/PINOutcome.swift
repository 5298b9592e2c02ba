// SPDX-License-Identifier: Apache-2.0

/// What became of a PIN that was not refused.
public enum PINOutcome: Hashable, Sendable {
    /// The card took it.
    case verified
    /// The card asked for none, so it was not sent.
    case notNeeded
}
