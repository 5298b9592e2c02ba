// SPDX-License-Identifier: Apache-2.0

/// The masks of what identifies a card. Equal values get equal masks, numbered in the order in which they appear, so that
/// a recording shows whether it is the same card. A mask that is masked again stays as it is.
struct IdentityMasks: Hashable, Sendable {
    private var felica: [[UInt8]: Int] = [:]
    private var typeA: [[UInt8]: Int] = [:]
    private var typeB: [[UInt8]: Int] = [:]

    /// An IDm or NFCID2: eight bytes, of which the first two remain (system number and manufacturer). The systems of one
    /// card have one number.
    mutating func idm(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count == 8 else { return bytes.map { _ in 0 } }
        let card = [bytes[0] & 0x0F] + bytes.dropFirst()
        return Self.masked(bytes, keeping: 2, number: Self.number(of: card, in: &felica))
    }

    /// A UID, of which the first byte remains: the manufacturer, or 08 for a random one.
    mutating func uid(_ bytes: [UInt8]) -> [UInt8] {
        Self.masked(bytes, keeping: 1, number: Self.number(of: bytes, in: &typeA))
    }

    /// A PUPI, of which nothing remains.
    mutating func pupi(_ bytes: [UInt8]) -> [UInt8] {
        Self.masked(bytes, keeping: 0, number: Self.number(of: bytes, in: &typeB))
    }

    private static func number(of value: [UInt8], in known: inout [[UInt8]: Int]) -> Int {
        if let number = known[value] { return number }
        known[value] = known.count + 1
        return known.count
    }

    private static func masked(_ bytes: [UInt8], keeping count: Int, number: Int) -> [UInt8] {
        guard bytes.count >= count + 2 else { return bytes.map { _ in 0 } }
        let zeros = [UInt8](repeating: 0, count: bytes.count - count - 2)
        let tail = [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
        return Array(bytes.prefix(count)) + zeros + tail
    }
}
