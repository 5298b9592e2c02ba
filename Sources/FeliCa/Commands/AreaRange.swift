// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// An area as a card lists it: its code, and the last code that belongs to it.
public struct AreaRange: Hashable, Sendable {
    /// The area's code.
    public let start: AreaCode
    /// The last code that belongs to it: `FFFE` for the root area.
    public let end: AreaCode

    /// An area.
    public init(start: AreaCode, end: AreaCode) {
        self.start = start
        self.end = end
    }

    /// Whether a code lies in the area: from its own number to the number of its end.
    public func contains(_ node: NodeCode) -> Bool {
        (start.rawValue & 0xFFC0...max(end.rawValue, start.rawValue) | 0x3F).contains(node.rawValue)
    }
}

extension AnswerReader {
    /// Takes the two codes of an area.
    mutating func area() throws(FeliCaError) -> AreaRange {
        AreaRange(start: try code(AreaCode.self), end: try code(AreaCode.self))
    }
}
