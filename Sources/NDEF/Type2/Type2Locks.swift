// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// Which pages of a Type 2 Tag can never be written again.
///
/// Static lock bytes, page 2 bytes 2 and 3: bits 3 to 7 of the first lock pages 3 to 7, the second pages 8 to 15; bits 0 to
/// 2 of the first freeze the bits themselves. Dynamic lock bytes: as the product or a Lock Control block says, from page
/// 16 on; bits that freeze others lock no page.
///
/// - Two pages a bit, MF0UL21, NTAG212 and NTAG213: NXP's support and data sheet (`03 00 00` locks pages 16 to 19),
///   Flipper's listener; the Lock Control blocks that NTAG212 and NTAG213 leave the factory with say the same.
/// - Sixteen pages a bit, NTAG215 and NTAG216: NXP data sheet, Flipper's listener.
/// - Ultralight C and NTAG203, two groups of a freezing bit and three bits for four pages each, then counter, AUTH0, AUTH1
///   and key: NXP data sheets MF0ICU2 §7.5.3 and NTAG203 figure 7.
/// - None: Ultralight, MF0UL11, NTAG210, whose pages end with 15.
public struct Type2Locks: Hashable, Sendable {
    /// The static lock bytes; `nil` when they were not read.
    public let staticBytes: [UInt8]?
    /// The dynamic lock bytes; `nil` when there are none, or it is not known where, or they were not read.
    public let dynamicBytes: [UInt8]?
    /// The locked pages in order.
    public let pages: [UInt16]
    /// Whether the lock bits of page 3, which is the Capability Container or one-time programmable, cannot be changed.
    public let isOneTimeAreaFrozen: Bool

    /// The locks of a tag.
    public init(memory: Type2Memory, product: Type2Product?, layout: Type2Layout?) {
        let fixed = memory[2].map { Array($0[2...3]) }
        staticBytes = fixed
        var locked: Set<UInt16> = []
        if let fixed {
            for bit in 3...7 where fixed[0].bits(bit...bit) == 1 { locked.insert(UInt16(bit)) }
            for bit in 0...7 where fixed[1].bits(bit...bit) == 1 { locked.insert(UInt16(bit + 8)) }
        }
        isOneTimeAreaFrozen = fixed.map { $0[0] & 0x01 != 0 } ?? false
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

    /// The first page that dynamic locks are for.
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
            // NTAG203 ends with its counter.
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
