// SPDX-License-Identifier: Apache-2.0

/// A fault and when it strikes.
public struct FaultRule: Hashable, Sendable {
    /// At which counts a fault strikes; counts begin with 1.
    public enum Moment: Hashable, Sendable {
        /// From the first to the last of a range.
        case during(ClosedRange<Int>)
        /// At every `period`th count; a period below 1 is never.
        case every(Int)
        /// With this chance in a thousand at each count, the same for the same seed.
        case random(perThousand: Int, seed: UInt64)
    }

    /// When it strikes.
    public var moment: Moment
    /// Counts only the exchanges with this command code; `nil` counts all.
    public var command: UInt8?
    /// Counts command APDUs in place of frames, and strikes the response APDU: a fault that loses or damages the
    /// answer also does so when the reader asks for it again. ``command`` is then the instruction byte.
    public var countsAPDUs: Bool
    /// What goes wrong.
    public var fault: Fault

    /// A fault and when it strikes.
    public init(_ fault: Fault, _ moment: Moment, command: UInt8? = nil, countsAPDUs: Bool = false) {
        self.fault = fault
        self.moment = moment
        self.command = command
        self.countsAPDUs = countsAPDUs
    }

    /// Whether it strikes at this count.
    func strikes(at count: Int) -> Bool {
        switch moment {
        case .during(let range): range.contains(count)
        case .every(let period): period > 0 && count % period == 0
        case .random(let perThousand, let seed):
            SplitMix64.number(seed: seed, index: UInt64(truncatingIfNeeded: count)) % 1000
                < UInt64(clamping: perThousand)
        }
    }
}
