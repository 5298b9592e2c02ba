// SPDX-License-Identifier: Apache-2.0

/// The page writes that put an NDEF message on a Type 2 Tag, in an order that never leaves half a message: the length
/// becomes 0, the data follows, the length comes last.
public struct Type2WritePlan: Hashable, Sendable {
    /// The pages and their new bytes in order.
    public let writes: [PageWrite]

    /// One page to be written.
    public struct PageWrite: Hashable, Sendable {
        /// Its number.
        public let page: UInt16
        /// Its four bytes.
        public let bytes: [UInt8]

        init(_ page: UInt16, _ bytes: [UInt8]) {
            self.page = page
            self.bytes = bytes
        }
    }

    /// The longest message that there is room for.
    ///
    /// A block of 255 bytes or more has a length of three bytes.
    public static func capacity(_ layout: Type2Layout) -> Int {
        let room = layout.addresses(from: layout.message?.address ?? layout.freeAddress).count
        return max(0, room >= 0xFF + 4 ? room - 4 : min(room - 2, 0xFE))
    }

    /// The pages that the plan must know before: all from the block on that the message can reach.
    public static func pages(_ layout: Type2Layout, length: Int) -> [UInt16] {
        let places = layout.addresses(from: layout.message?.address ?? layout.freeAddress)
        let header = length < 0xFF ? 2 : 4
        var pages: [UInt16] = []
        for address in places.prefix(length + header + 1) {
            let page = UInt16(clamping: address / Type2Memory.pageSize)
            if pages.last != page { pages.append(page) }
        }
        return pages
    }

    /// A plan.
    ///
    /// - Parameters:
    ///   - message: the bytes of the message.
    ///   - layout: how the data area is divided now.
    ///   - memory: holds at least ``pages(_:length:)``.
    /// - Returns: `nil` when the message is too long, or a page that must be known is not.
    public init?(message: [UInt8], layout: Type2Layout, memory: Type2Memory) {
        guard message.count <= Type2WritePlan.capacity(layout) else { return nil }
        let places = layout.addresses(from: layout.message?.address ?? layout.freeAddress)
        var header: [UInt8] = [Type2TLV.Tag.ndefMessage.rawValue]
        if message.count < 0xFF {
            header.append(UInt8(truncatingIfNeeded: message.count))
        } else {
            header += [0xFF, UInt8(truncatingIfNeeded: message.count >> 8), UInt8(truncatingIfNeeded: message.count)]
        }
        // The terminator is written where there is room for it.
        let block = header + message + [Type2TLV.Tag.terminator.rawValue]
        guard places.count >= 2, places.count >= block.count - 1 else { return nil }
        let lengthPage = UInt16(clamping: places[1] / Type2Memory.pageSize)
        let tagPage = UInt16(clamping: places[0] / Type2Memory.pageSize)

        var new = memory
        for (address, byte) in zip(places, block) {
            guard new.set(byte, at: address) else { return nil }
        }
        // Of the old bytes only tag and length change at first.
        var emptied = memory
        guard emptied.set(0, at: places[1]), let emptiedLength = emptied[lengthPage],
            emptied.set(header[0], at: places[0]), let emptiedTag = emptied[tagPage]
        else { return nil }
        var writes: [PageWrite] = []
        if lengthPage == tagPage {
            writes.append(PageWrite(lengthPage, emptiedTag))
        } else {
            writes.append(PageWrite(lengthPage, emptiedLength))
            if memory[tagPage] != emptiedTag { writes.append(PageWrite(tagPage, emptiedTag)) }
        }
        for page in Type2WritePlan.pages(layout, length: message.count) where page != lengthPage && page != tagPage {
            guard let bytes = new[page] else { return nil }
            if bytes != memory[page] { writes.append(PageWrite(page, bytes)) }
        }
        guard let last = new[lengthPage] else { return nil }
        if last != writes.first?.bytes || writes.count > 1 { writes.append(PageWrite(lengthPage, last)) }
        self.writes = writes
    }
}

extension Type2Memory {
    /// Changes one byte of a page that is known.
    fileprivate mutating func set(_ byte: UInt8, at address: Int) -> Bool {
        let number = UInt16(clamping: address / Type2Memory.pageSize)
        guard var page = self[number] else { return false }
        page[address % Type2Memory.pageSize] = byte
        self[number] = page
        return true
    }
}
