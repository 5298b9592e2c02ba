// SPDX-License-Identifier: Apache-2.0

/// What one exchange with the field came to.
enum AirOutcome: Hashable, Sendable {
    /// What a card sent.
    case answer([UInt8])
    /// The chip's status for silence or damage.
    case failed(status: UInt8)
    /// The host gave up.
    case aborted
}
