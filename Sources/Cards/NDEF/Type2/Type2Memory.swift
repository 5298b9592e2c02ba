// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// The pages that were read from a Type 2 Tag, four bytes each.
package struct Type2Memory: Hashable, Sendable {
    /// The pages by number, each with four bytes.
    package private(set) var pages: [UInt16: [UInt8]]

    /// The size of a page in bytes.
    package static let pageSize = 4

    /// Creates a memory from the pages that have four bytes; others are left out.
    package init(pages: [UInt16: [UInt8]] = [:]) {
        self.pages = pages.filter { $0.value.count == Type2Memory.pageSize }
    }

    package init(_ dump: Type2Dump) {
        self.init(pages: dump.pages)
    }

    /// One page, or `nil` when it was not read; setting anything but four bytes removes it.
    package subscript(page: UInt16) -> [UInt8]? {
        get { pages[page] }
        set { pages[page] = newValue?.count == Type2Memory.pageSize ? newValue : nil }
    }

    /// Returns the byte at an address, counted from the first byte of page 0; `nil` when it was not read.
    package func byte(at address: Int) -> UInt8? {
        guard address >= 0, let page = UInt16(exactly: address / Type2Memory.pageSize) else { return nil }
        return pages[page]?[address % Type2Memory.pageSize]
    }

    /// The seven-byte UID from pages 0 to 2; `nil` when they were not read.
    ///
    /// Layout: UID 0 to 2, BCC0, UID 3 to 6, BCC1.
    package var uid: [UInt8]? {
        guard let first = pages[0], let second = pages[1] else { return nil }
        return Array(first[..<3]) + second
    }

    /// Whether both check bytes of the UID are correct; `nil` when they were not read.
    ///
    /// BCC0 is 88 ⊕ UID0 ⊕ UID1 ⊕ UID2, BCC1 is the XOR of the others (ISO 14443-3).
    package var uidCheckIsRight: Bool? {
        guard let uid, let first = byte(at: 3), let second = byte(at: 8) else { return nil }
        return first == uid[..<3].reduce(0x88, ^) && second == uid[3...].reduce(0, ^)
    }

    /// The Capability Container in page 3; `nil` when it was not read or is not one.
    package var capability: Type2Capability? {
        pages[3].flatMap { Type2Capability($0) }
    }
}

/// The page writes that store an NDEF message on a Type 2 Tag.
///
/// Their order never leaves half a message: the length becomes 0, the data follows, the length comes last.
package struct Type2WritePlan: Hashable, Sendable {
    /// The pages and their new bytes, in order.
    package let writes: [PageWrite]

    package struct PageWrite: Hashable, Sendable {
        /// The page number.
        package let page: UInt16
        /// The four bytes.
        package let bytes: [UInt8]

        init(_ page: UInt16, _ bytes: [UInt8]) {
            self.page = page
            self.bytes = bytes
        }
    }

    /// Returns the length of the longest message that fits.
    ///
    /// A block of 255 bytes or more has a three-byte length.
    package static func capacity(_ layout: Type2Layout) -> Int {
        let room = layout.addresses(from: layout.message?.address ?? layout.freeAddress).count
        return max(0, room >= 0xFF + 4 ? room - 4 : min(room - 2, 0xFE))
    }

    /// Returns the pages needed to make a plan: all that the message can reach, from its block on.
    package static func pages(_ layout: Type2Layout, length: Int) -> [UInt16] {
        let places = layout.addresses(from: layout.message?.address ?? layout.freeAddress)
        let header = length < 0xFF ? 2 : 4
        var pages: [UInt16] = []
        for address in places.prefix(length + header + 1) {
            let page = UInt16(clamping: address / Type2Memory.pageSize)
            if pages.last != page { pages.append(page) }
        }
        return pages
    }

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - message: the bytes of the message.
    ///   - layout: the current layout of the data area.
    ///   - memory: contains at least ``pages(_:length:)``.
    /// - Returns: `nil` when the message is too long, or a required page is missing.
    package init?(message: [UInt8], layout: Type2Layout, memory: Type2Memory) {
        guard message.count <= Type2WritePlan.capacity(layout) else { return nil }
        let places = layout.addresses(from: layout.message?.address ?? layout.freeAddress)
        var header: [UInt8] = [Type2TLV.Tag.ndefMessage.rawValue]
        if message.count < 0xFF {
            header.append(UInt8(truncatingIfNeeded: message.count))
        } else {
            header += [0xFF, UInt8(truncatingIfNeeded: message.count >> 8), UInt8(truncatingIfNeeded: message.count)]
        }
        // The terminator is written if there is room for it.
        let block = header + message + [Type2TLV.Tag.terminator.rawValue]
        guard places.count >= 2, places.count >= block.count - 1 else { return nil }
        let lengthPage = UInt16(clamping: places[1] / Type2Memory.pageSize)
        let tagPage = UInt16(clamping: places[0] / Type2Memory.pageSize)

        var new = memory
        for (address, byte) in zip(places, block) {
            guard new.set(byte, at: address) else { return nil }
        }
        // At first, only tag and length of the old bytes change.
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
    /// Changes one byte of a known page.
    fileprivate mutating func set(_ byte: UInt8, at address: Int) -> Bool {
        let number = UInt16(clamping: address / Type2Memory.pageSize)
        guard var page = self[number] else { return false }
        page[address % Type2Memory.pageSize] = byte
        self[number] = page
        return true
    }
}

/// The permanently locked pages of a Type 2 Tag.
///
/// Static lock bytes, page 2 bytes 2 and 3: bits 3 to 7 of the first lock pages 3 to 7, the second locks pages 8 to 15;
/// bits 0 to 2 of the first freeze the lock bits themselves. Dynamic lock bytes: as defined by the product or a Lock
/// Control block, from page 16 on; bits that freeze others lock no page.
///
/// - Two pages per bit, MF0UL21, NTAG212 and NTAG213: NXP's support and data sheet (`03 00 00` locks pages 16 to 19),
///   Flipper's listener; the factory Lock Control blocks of NTAG212 and NTAG213 agree.
/// - Sixteen pages per bit, NTAG215 and NTAG216: NXP data sheet, Flipper's listener.
/// - Ultralight C and NTAG203, two groups of a freezing bit and three bits for four pages each, then counter, AUTH0,
///   AUTH1 and key: NXP data sheets MF0ICU2 §7.5.3 and NTAG203 figure 7.
/// - None: Ultralight, MF0UL11, NTAG210, whose pages end with 15.
package struct Type2Locks: Hashable, Sendable {
    /// The static lock bytes; `nil` when they were not read.
    package let staticBytes: [UInt8]?
    /// The dynamic lock bytes; `nil` when there are none, their location is unknown, or they were not read.
    package let dynamicBytes: [UInt8]?
    /// The locked pages in order.
    package let pages: [UInt16]

    /// Determines the locks of a tag.
    package init(memory: Type2Memory, product: Type2Product?, layout: Type2Layout?) {
        let fixed = memory[2].map { Array($0[2...3]) }
        staticBytes = fixed
        var locked: Set<UInt16> = []
        if let fixed {
            for bit in 3...7 where fixed[0].bits(bit...bit) == 1 { locked.insert(UInt16(bit)) }
            for bit in 0...7 where fixed[1].bits(bit...bit) == 1 { locked.insert(UInt16(bit + 8)) }
        }
        if let product, let page = product.dynamicLockPage, let rule = product.dynamicLocks {
            dynamicBytes = memory[page].map { Array($0[..<3]) }
            if let bytes = dynamicBytes, let last = product.userPages?.upperBound {
                locked.formUnion(Type2Locks.pages(bytes, rule, product, last: last))
            }
        } else if let area = layout?.controlAreas.first(where: { $0.lockBits != nil }) {
            let bytes = area.addresses.compactMap { memory.byte(at: $0) }
            dynamicBytes = bytes.count == area.addresses.count ? bytes : nil
            if let bytes = dynamicBytes { locked.formUnion(Type2Locks.pages(bytes, area)) }
        } else {
            dynamicBytes = nil
        }
        pages = locked.sorted()
    }

    /// The first page covered by dynamic locks.
    private static let firstDynamicPage: UInt16 = 16

    private static func pages(
        _ bytes: [UInt8], _ rule: Type2Product.DynamicLocks, _ product: Type2Product, last: UInt16
    ) -> [UInt16] {
        switch rule {
        case .pagesPerBit(let count):
            var pages: [UInt16] = []
            for (place, byte) in bytes.prefix(2).enumerated() {
                for bit in 0..<8 where byte.bits(bit...bit) == 1 {
                    let first = firstDynamicPage + UInt16(place * 8 + bit) * count
                    if first <= last { pages += first...min(last, first + count - 1) }
                }
            }
            return pages
        case .ultralightC:
            guard bytes.count >= 2 else { return [] }
            let groups = fourPages.filter { bytes[0].bits($0.bit...$0.bit) == 1 }
            // On NTAG203, the counter is the last page.
            let single = behindUserPages.filter { bytes[1].bits($0.bit...$0.bit) == 1 }
                .filter { $0.pages.upperBound < product.pageCount ?? 0 }
            return groups.flatMap { Array($0.page...$0.page + 3) } + single.flatMap { Array($0.pages) }
        }
    }

    /// The bits of Ultralight C's first byte that lock pages; bits 0 and 4 freeze the three above them.
    private static let fourPages: [(bit: Int, page: UInt16)] = [(1, 16), (2, 20), (3, 24), (5, 28), (6, 32), (7, 36)]
    /// The bits of its second byte that lock counter, AUTH0, AUTH1 and key; bits 0 to 3 freeze them.
    private static let behindUserPages: [(bit: Int, pages: ClosedRange<UInt16>)] = [
        (4, 0x29...0x29), (5, 0x2A...0x2A), (6, 0x2B...0x2B), (7, 0x2C...0x2F),
    ]

    private static func pages(_ bytes: [UInt8], _ area: Type2ControlArea) -> [UInt16] {
        guard let count = area.lockBits, let span = area.bytesPerLockBit else { return [] }
        var pages: Set<UInt16> = []
        for bit in 0..<count where bytes.element(at: bit / 8)?.bits(bit % 8...bit % 8) == 1 {
            let start = Int(firstDynamicPage) * 4 + bit * span
            for page in start / 4...(start + span - 1) / 4 { pages.insert(UInt16(clamping: page)) }
        }
        return Array(pages)
    }
}
