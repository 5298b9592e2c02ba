// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// One block of service 184B of transit cards: a ticket with a fee, as suica-viewer reads it.
///
/// One source only, and disputed: felica-tool calls the service commuter pass information. It was all zero in every
/// published dump.
public struct PaidTicket: Hashable, Sendable {
    /// Line and station where it begins.
    public let from: UInt16
    /// Line and station where it ends.
    public let to: UInt16
    /// The last day, or `nil` when the bytes name no day that exists.
    public let expiry: CalendarDate?
    /// The time it was issued, or `nil` when the bytes name none that exists.
    public let issued: ClockTime?
    /// The kind of ticket; no source names the codes.
    public let kind: UInt8
    /// The price in yen; the card holds tens of yen.
    public let price: Int
    /// The number of the machine that issued it.
    public let device: UInt16
    /// Line and station where it was checked.
    public let checkedAt: UInt16
    /// The bytes that all this was taken from.
    public let raw: Block
}
