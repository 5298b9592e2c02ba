// SPDX-License-Identifier: Apache-2.0

/// What a reader hears after it sent one frame.
enum AirReply: Hashable, Sendable {
    /// What a card sent.
    case answer(CardAnswer)
    /// Nothing in time, or something damaged: the chip's status for it.
    case failed(status: UInt8)
    /// There is no more time for this, or the host gave up.
    case aborted
}
