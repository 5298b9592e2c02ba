// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// The maximum response times of a card, as encoded in its PMm.
///
/// Byte 2 + class of the PMm contains A (bits 2–0), B (bits 5–3) and E (bits 7–6); the maximum for n units (nodes or
/// blocks) is T × ((B + 1) × n + (A + 1)) × 4^E with T = 256 × 16 / 13.56 MHz ≈ 302.06 µs. No margin is added here: the
/// channel adds what its reader and the host need. Source: nfcpy `tt3_sony.py`, felica-tool, the unofficial user's
/// manual.
public struct ResponseTime: Hashable, Sendable {
    /// The PMm that encodes the times.
    public let pmm: PMm

    /// Makes the times that a PMm encodes.
    public init(_ pmm: PMm) {
        self.pmm = pmm
    }

    /// The kinds of commands with a separate maximum; raw values are offsets in the PMm.
    public enum CommandClass: Int, Hashable, Sendable, CaseIterable {
        /// Request Service and similar commands; a unit is a node.
        case variable = 2
        /// Commands of constant work: Request Response, Search Service Code, Request System Code, …
        case fixed = 3
        /// Mutual authentication; a unit is a node.
        case authentication = 4
        /// Reading; a unit is a block.
        case read = 5
        /// Writing; a unit is a block.
        case write = 6
        /// Issuing and other commands.
        case other = 7
    }

    /// Returns the byte of the PMm for a class.
    package func parameter(_ commandClass: CommandClass) -> UInt8 {
        UInt8(truncatingIfNeeded: pmm.rawValue >> UInt64(56 - commandClass.rawValue * 8))
    }

    /// Returns the maximum time for a command of this class on `units` nodes or blocks (0 to 255).
    ///
    /// The time is rounded up to nanoseconds.
    ///
    /// The fixed class is at least 2 ms, because RC-S860 and RC-S915 state less than they take (nfcpy).
    public func maximum(_ commandClass: CommandClass, units: Int = 0) -> Duration {
        let periods = periods(commandClass, units: units)
        let time = Self.duration(carrierCycles: periods * 256 * 16)
        return commandClass == .fixed ? max(time, Self.shortestFixed) : time
    }

    /// ((B + 1) × n + (A + 1)) × 4^E, in units of T.
    func periods(_ commandClass: CommandClass, units: Int) -> Int {
        let parameter = Int(parameter(commandClass))
        let (a, b, e) = (parameter & 7, parameter >> 3 & 7, parameter >> 6)
        let units = max(0, min(units, 255))
        return ((b + 1) * units + (a + 1)) << (2 * e)
    }

    private static let shortestFixed: Duration = .milliseconds(2)

    /// Converts cycles of the 13.56 MHz carrier to time: one is 25 000 / 339 ns.
    private static func duration(carrierCycles: Int) -> Duration {
        .nanoseconds((carrierCycles * 25_000 + 338) / 339)
    }
}
