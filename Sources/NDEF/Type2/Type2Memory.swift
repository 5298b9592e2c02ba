// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// The pages of a Type 2 Tag that were read, four bytes each.
public struct Type2Memory: Hashable, Sendable {
    /// The pages by number; every one has four bytes.
    public private(set) var pages: [UInt16: [UInt8]]

    /// The bytes of one page.
    public static let pageSize = 4

    /// The pages that have four bytes; others are left out.
    public init(pages: [UInt16: [UInt8]] = [:]) {
        self.pages = pages.filter { $0.value.count == Type2Memory.pageSize }
    }

    /// The pages of a dump.
    public init(_ dump: Type2Dump) {
        self.init(pages: dump.pages)
    }

    /// One page, or `nil` when it was not read; setting anything but four bytes removes it.
    public subscript(page: UInt16) -> [UInt8]? {
        get { pages[page] }
        set { pages[page] = newValue?.count == Type2Memory.pageSize ? newValue : nil }
    }

    /// The byte at an address, counted from the first byte of page 0; `nil` when it was not read.
    public func byte(at address: Int) -> UInt8? {
        guard address >= 0, let page = UInt16(exactly: address / Type2Memory.pageSize) else { return nil }
        return pages[page]?[address % Type2Memory.pageSize]
    }

    /// The UID of pages 0 to 2, seven bytes; `nil` when they were not read.
    ///
    /// Layout: UID 0 to 2, BCC0, UID 3 to 6, BCC1.
    public var uid: [UInt8]? {
        guard let first = pages[0], let second = pages[1] else { return nil }
        return Array(first[..<3]) + second
    }

    /// Whether both check bytes of the UID are right; `nil` when they were not read.
    ///
    /// BCC0 is 88 ⊕ UID0 ⊕ UID1 ⊕ UID2, BCC1 the sum without carry of the others (ISO 14443-3).
    public var uidCheckIsRight: Bool? {
        guard let uid, let first = byte(at: 3), let second = byte(at: 8) else { return nil }
        return first == uid[..<3].reduce(0x88, ^) && second == uid[3...].reduce(0, ^)
    }

    /// The Capability Container of page 3; `nil` when it was not read or is none.
    public var capability: Type2Capability? {
        pages[3].flatMap { Type2Capability($0) }
    }
}
