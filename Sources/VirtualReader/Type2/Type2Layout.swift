// SPDX-License-Identifier: Apache-2.0

/// What a model of Type 2 Tag has, and where.
struct Type2Layout: Hashable, Sendable {
    /// The lock bits for the pages from 16 on.
    enum Locks: Hashable, Sendable {
        /// Bit n of bytes 0 and 1 locks `unit` pages from 16 + n × unit on; bit m of byte 2 freezes bits 2m and 2m + 1.
        case pairs(page: Int, unit: Int)
        /// Ultralight C and NTAG203: byte 0 has one freezing bit and three lock bits for four pages each, twice.
        case groupsOfFour(page: Int)

        var page: Int {
            switch self {
            case .pairs(let page, _), .groupsOfFour(let page): page
            }
        }
    }

    /// How the tag counts.
    enum Counter: Hashable, Sendable {
        case none
        /// Three counters of Ultralight EV1, read with READ_CNT and raised with INCR_CNT.
        case three
        /// One that counts by itself, number 2 of READ_CNT.
        case automatic
        /// Sixteen bits in a page, raised by writing to it.
        case page(Int)
    }

    var pages: Int
    /// The last page that READ gives; the keys of an Ultralight C come after it.
    var lastReadable: Int
    /// Page 3 from the factory; `nil` for one-time programmable bits.
    var capability: [UInt8]?
    /// What lies in page 4 and after it from the factory.
    var message: [UInt8] = []
    var locks: Locks?
    /// CFG0; CFG1, PWD and PACK follow it.
    var config: Int?
    /// The answer to GET_VERSION.
    var version: [UInt8]?
    var counter = Counter.none
    /// Whether a command that it does not know gets a NAK; else silence.
    var refusesUnknown = false

    init(
        pages: Int, lastReadable: Int? = nil, capability: [UInt8]?, message: [UInt8] = [], locks: Locks? = nil,
        counter: Counter = .none, refusesUnknown: Bool = false
    ) {
        self.pages = pages
        self.lastReadable = lastReadable ?? pages - 1
        self.capability = capability
        self.message = message
        self.locks = locks
        self.counter = counter
        self.refusesUnknown = refusesUnknown
    }

    static func ev1(_ size: UInt8, subtype: UInt8, pages: Int, config: Int, locks: Locks? = nil) -> Type2Layout {
        var layout = Type2Layout(pages: pages, capability: nil, locks: locks, counter: .three, refusesUnknown: true)
        layout.config = config
        layout.version = [0x00, 0x04, 0x03, subtype, 0x01, 0x00, size, 0x03]
        return layout
    }

    static func ntag(
        _ size: UInt8, subtype: UInt8, pages: Int, size capacity: UInt8, config: Int, locks: Locks?, message: [UInt8]
    ) -> Type2Layout {
        var layout = Type2Layout(
            pages: pages, capability: [0xE1, 0x10, capacity, 0x00], message: message, locks: locks,
            counter: subtype == 2 ? .automatic : .none, refusesUnknown: true)
        layout.config = config
        layout.version = [0x00, 0x04, 0x04, subtype, 0x01, 0x00, size, 0x03]
        return layout
    }
}
