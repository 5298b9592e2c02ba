// SPDX-License-Identifier: Apache-2.0

/// What a card of ISO 14443 type A tells while it is selected.
public struct TypeAIdentity: Hashable, Sendable {
    /// The UID: 4, 7 or 10 bytes, in the order of the air.
    public private(set) var uid: [UInt8]
    /// Whether the last three bytes of the UID are others after each loss of power, as a phone's are; its first is 08 then.
    public private(set) var isRandom = false
    /// The ATQA as people write it, as in `0344`; on the air the low byte comes first.
    public var atqa: UInt16
    /// The SAK of the last cascade level; its bit 3 (04, UID not complete) is never sent there.
    public var sak: UInt8

    /// A card of type A; `nil` when the UID does not have 4, 7 or 10 bytes.
    ///
    /// - Parameter atqa: by default only the size of the UID, bits 8 and 7, and bit 3.
    public init?(uid: [UInt8], atqa: UInt16? = nil, sak: UInt8) {
        switch uid.count {
        case 4: self.atqa = atqa ?? 0x0004
        case 7: self.atqa = atqa ?? 0x0044
        case 10: self.atqa = atqa ?? 0x0084
        default: return nil
        }
        self.uid = uid
        self.sak = sak
    }

    /// A card that chooses another UID of four bytes, `08` before three random ones, whenever it gets power.
    public static func random(atqa: UInt16? = nil, sak: UInt8) -> TypeAIdentity {
        TypeAIdentity(randomWithATQA: atqa ?? 0x0004, sak: sak)
    }

    private init(randomWithATQA atqa: UInt16, sak: UInt8) {
        uid = [0x08, 0, 0, 0]
        isRandom = true
        self.atqa = atqa
        self.sak = sak
    }

    mutating func chooseUID(_ random: inout SplitMix64) {
        guard isRandom else { return }
        uid = [0x08] + (0..<3).map { _ in UInt8.random(in: 0...0xFF, using: &random) }
    }

    /// What a Type 2 Tag tells, whose UID always has seven bytes.
    init(tag: Type2Memory, atqa: UInt16, sak: UInt8) {
        uid = tag.uid
        self.atqa = atqa
        self.sak = sak
    }

    /// The four bytes and the check byte BCC of each cascade level; 88 is the cascade tag.
    var levels: [[UInt8]] {
        var rest = uid[...]
        var levels: [[UInt8]] = []
        while rest.count > 4 {
            levels.append([0x88] + rest.prefix(3))
            rest = rest.dropFirst(3)
        }
        levels.append(Array(rest))
        return levels.map { $0 + [$0.reduce(0, ^)] }
    }
}
