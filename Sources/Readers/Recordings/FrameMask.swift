// SPDX-License-Identifier: Apache-2.0

/// A frame to a card, or its answer, masked part by part. A byte that no part claims becomes 00.
struct FrameMask {
    private let frame: [UInt8]
    private let uid: [UInt8]
    /// How many bytes the parts so far have claimed.
    private var claimed = 0
    /// The masked frame.
    private(set) var bytes: [UInt8] = []
    /// Whether it has bytes that no part claims, whatever their value.
    private(set) var leavesOut = false
    /// The bytes behind all parts.
    var unclaimed: Range<Int> { claimed..<frame.count }

    /// - Parameters:
    ///   - parts: what the frame consists of, in order.
    ///   - uid: the UID of the selected card.
    init(_ frame: [UInt8], _ parts: [CardFrameKind.Part], uid: [UInt8], _ masks: inout IdentityMasks) {
        (self.frame, self.uid) = (frame, uid)
        for part in parts { bytes += masked(part, &masks) }
        if !unclaimed.isEmpty { leavesOut = true }
        bytes += zeros(unclaimed.count)
    }

    private mutating func masked(_ part: CardFrameKind.Part, _ masks: inout IdentityMasks) -> [UInt8] {
        switch part {
        case .open(let count): return take(count)
        case .openRest: return take(unclaimed.count)
        case .idm:
            let bytes = take(8)
            return bytes.count == 8 ? masks.idm(bytes) : without(bytes)
        case .statusWord:
            let rest = take(unclaimed.count)
            return without(Array(rest.dropLast(2))) + rest.suffix(2)
        case .firstPages: return firstPages(take(unclaimed.count), &masks)
        }
    }

    private mutating func take(_ count: Int) -> [UInt8] {
        let bytes = Array(frame[claimed...].prefix(count))
        claimed += bytes.count
        return bytes
    }

    private mutating func without(_ bytes: [UInt8]) -> [UInt8] {
        if !bytes.isEmpty { leavesOut = true }
        return zeros(bytes.count)
    }

    private func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    /// Pages 0 to 3 with a UID of seven bytes; of any other answer, nothing is written.
    private mutating func firstPages(_ pages: [UInt8], _ masks: inout IdentityMasks) -> [UInt8] {
        guard pages.count == 16, uid.count == 7 else { return without(pages) }
        let number = masks.uid(Array(pages[0..<3] + pages[4..<8]))
        let first = [number[0], number[1], number[2]]
        let last = Array(number[3...])
        let isContainer = pages[12] == 0xE1 && pages[13] >> 4 == 1
        let container = isContainer ? Array(pages[12...]) : zeros(4)
        let serial: [UInt8] = first + [first.reduce(0x88, ^)] + last
        let locks: [UInt8] = [last.reduce(0, ^), 0, pages[10], pages[11]]
        return serial + locks + container
    }
}
