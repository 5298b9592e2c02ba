// SPDX-License-Identifier: Apache-2.0

/// The access conditions in a sector's trailer, bytes 6 to 8: C1, C2 and C3 of four groups of blocks, each stored twice, once
/// inverted.
///
/// Byte 6 is ~C2 ~C1, byte 7 C1 ~C3, byte 8 C3 C2, four bits each; bit 3 is the trailer. A condition is written here with C1
/// as its high bit, as NXP does. Source: MF1S50YYX data sheet, tables 6 to 8.
package struct ClassicAccess: Hashable, Sendable {
    /// The conditions of the three groups of data blocks, then that of the trailer; 0 to 7.
    package let conditions: [UInt8]

    /// Decodes the three bytes; `nil` if the inverted bits do not match: a card with such a trailer blocks the sector forever.
    package init?(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == 3 else { return nil }
        let (c1, c2, c3) = (bytes[1] >> 4, bytes[2] & 0x0F, bytes[2] >> 4)
        guard bytes[0] & 0x0F == ~c1 & 0x0F, bytes[0] >> 4 == ~c2 & 0x0F, bytes[1] & 0x0F == ~c3 & 0x0F else {
            return nil
        }
        conditions = (0..<4).map { bit in (c1 >> bit & 1) << 2 | (c2 >> bit & 1) << 1 | (c3 >> bit & 1) }
    }

    /// Makes the conditions of three groups of data blocks and the trailer; `nil` unless there are four of 0 to 7.
    package init?(conditions: [UInt8]) {
        guard conditions.count == 4, conditions.allSatisfy({ $0 < 8 }) else { return nil }
        self.conditions = conditions
    }

    /// The three bytes.
    package var bytes: [UInt8] {
        let bits = { (mask: UInt8) in
            self.conditions.enumerated().reduce(UInt8(0)) { $0 | ($1.element & mask == 0 ? 0 : 1 << UInt8($1.offset)) }
        }
        let (c1, c2, c3) = (bits(4), bits(2), bits(1))
        return [~c2 << 4 | ~c1 & 0x0F, c1 << 4 | ~c3 & 0x0F, c3 << 4 | c2]
    }

    /// Who may do something.
    package struct Keys: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        package static let a = Keys(rawValue: 1)
        package static let b = Keys(rawValue: 2)
        package static let both: Keys = [.a, .b]

        package init(_ type: ClassicKeyType) { self = type == .a ? .a : .b }

        /// Whether the holder of this key belongs to them.
        package func contains(_ type: ClassicKeyType) -> Bool { contains(Keys(type)) }
    }

    /// What may be done with a data block.
    package enum DataRight: Int, Hashable, Sendable, CaseIterable {
        case read, write, increment
        /// Decrement, transfer and restore.
        case decrement
    }

    /// What may be done with a trailer.
    package enum TrailerRight: Int, Hashable, Sendable, CaseIterable {
        case writeA, readAccess, writeAccess, readB, writeB
    }

    /// Who may do something with the data blocks of a group, 0 to 2. Key B authenticates nobody where it can be read.
    package func keys(for right: DataRight, group: Int) -> Keys {
        guard (0..<3).contains(group) else { return [] }
        let table: [[Keys]] = [
            [.both, .both, .both, .both], [.both, [], [], .both], [.both, [], [], []], [.b, .b, [], []],
            [.both, .b, [], []], [.b, [], [], []], [.both, .b, .b, .both], [[], [], [], []],
        ]
        let keys = table[Int(conditions[group])][right.rawValue]
        return isKeyBData ? keys.subtracting(.b) : keys
    }

    /// Who may do something with the trailer.
    package func keys(for right: TrailerRight) -> Keys {
        let table: [[Keys]] = [
            [.a, .a, [], .a, .a], [.a, .a, .a, .a, .a], [[], .a, [], .a, []], [.b, .both, .b, [], .b],
            [.b, .both, [], [], .b], [[], .both, .b, [], []], [[], .both, [], [], []], [[], .both, [], [], []],
        ]
        return table[Int(conditions[3])][right.rawValue]
    }

    /// Whether key B can be read, and so is data and authenticates nothing.
    package var isKeyBData: Bool { !keys(for: .readB).isEmpty }

    /// The rights to read and write the data blocks of a group that some key has, and none has under other access bits.
    package func rightsLost(under future: ClassicAccess, group: Int) -> [DataRight] {
        [DataRight.read, .write].filter {
            !keys(for: $0, group: group).isEmpty && future.keys(for: $0, group: group).isEmpty
        }
    }
}
