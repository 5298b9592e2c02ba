// SPDX-License-Identifier: Apache-2.0

/// The Type 2 Tags that can be simulated; the raw values are those of card files.
package enum Type2Model: String, Hashable, Sendable, CaseIterable {
    /// MIFARE Ultralight.
    case ultralight
    /// MIFARE Ultralight C.
    case ultralightC
    /// MIFARE Ultralight EV1, 48 bytes of user memory.
    case mf0ul11, mf0ulh11
    /// MIFARE Ultralight EV1, 128 bytes of user memory.
    case mf0ul21, mf0ulh21
    /// MIFARE Ultralight AES, 144 bytes of user memory.
    case mf0aes20
    /// The NTAGs, the 21x with password and signature.
    case ntag203, ntag210, ntag212, ntag213, ntag215, ntag216

    /// The memory layout; page numbers as in NXP's data sheets.
    var layout: Type2Layout {
        switch self {
        case .ultralight: Type2Layout(pages: 16, capability: nil)
        case .ultralightC:
            Type2Layout(
                pages: 48, lastReadable: 0x2B, capability: [0xE1, 0x10, 0x12, 0x00], locks: .groupsOfFour(page: 0x28),
                counter: .page(0x29))
        case .mf0ul11: .ev1(0x0B, subtype: 1, pages: 20, config: 0x10)
        case .mf0ulh11: .ev1(0x0B, subtype: 2, pages: 20, config: 0x10)
        case .mf0ul21: .ev1(0x0E, subtype: 1, pages: 41, config: 0x25, locks: .pairs(page: 0x24, unit: 2))
        case .mf0ulh21: .ev1(0x0E, subtype: 2, pages: 41, config: 0x25, locks: .pairs(page: 0x24, unit: 2))
        case .mf0aes20: .aes
        case .ntag203:
            Type2Layout(
                pages: 42, capability: [0xE1, 0x10, 0x12, 0x00],
                message: [0x01, 0x03, 0xA0, 0x10, 0x44, 0x03, 0x00, 0xFE], locks: .groupsOfFour(page: 0x28),
                counter: .page(0x29), refusesUnknown: true)
        case .ntag210:
            .ntag(0x0B, subtype: 1, pages: 20, size: 0x06, config: 0x10, locks: nil, message: [0x03, 0x00, 0xFE])
        case .ntag212:
            .ntag(
                0x0E, subtype: 1, pages: 41, size: 0x10, config: 0x25, locks: .pairs(page: 0x24, unit: 2),
                message: [0x01, 0x03, 0x90, 0x0A, 0x34, 0x03, 0x00, 0xFE])
        case .ntag213:
            .ntag(
                0x0F, subtype: 2, pages: 45, size: 0x12, config: 0x29, locks: .pairs(page: 0x28, unit: 2),
                message: [0x01, 0x03, 0xA0, 0x0C, 0x34, 0x03, 0x00, 0xFE])
        case .ntag215:
            .ntag(
                0x11, subtype: 2, pages: 135, size: 0x3E, config: 0x83, locks: .pairs(page: 0x82, unit: 16),
                message: [0x03, 0x00, 0xFE])
        case .ntag216:
            .ntag(
                0x13, subtype: 2, pages: 231, size: 0x6D, config: 0xE3, locks: .pairs(page: 0xE2, unit: 16),
                message: [0x03, 0x00, 0xFE])
        }
    }

    /// The model with this answer to GET_VERSION; without an answer the one with this number of pages.
    package static func of(version: [UInt8]?, pages: Int) -> Type2Model? {
        guard let version else {
            switch pages {
            case ...16: return .ultralight
            case 41...42: return .ntag203
            default: return .ultralightC
            }
        }
        return allCases.first { $0.layout.version == version }
    }
}

/// The features of a model of Type 2 Tag, and their locations.
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
        /// One counter that is raised automatically, number 2 of READ_CNT.
        case automatic
        /// Sixteen bits in a page, raised by writing to it.
        case page(Int)
    }

    var pages: Int
    /// The last page that READ returns; the keys of an Ultralight C come after it.
    var lastReadable: Int
    /// The factory value of page 3; `nil` for one-time programmable bits.
    var capability: [UInt8]?
    /// The factory content from page 4 on.
    var message: [UInt8] = []
    var locks: Locks?
    /// CFG0; CFG1, PWD and PACK follow it.
    var config: Int?
    /// The answer to GET_VERSION.
    var version: [UInt8]?
    var counter = Counter.none
    /// Whether an unknown command gets a NAK; otherwise no answer.
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

    /// Ultralight AES: the keys behind page 2F are never read.
    static let aes: Type2Layout = {
        var layout = Type2Layout(
            pages: 60, lastReadable: 0x2F, capability: [0xE1, 0x10, 0x12, 0x00], message: [0x03, 0x00, 0xFE],
            refusesUnknown: true)
        layout.config = 0x29
        layout.version = [0x00, 0x04, 0x03, 0x01, 0x04, 0x00, 0x0F, 0x03]
        return layout
    }()

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

/// The protection of a Type 2 Tag. Changes to the configuration pages take effect at the next selection, as nfcpy
/// expects.
struct Type2Protection: Hashable, Sendable {
    /// The first page that needs the password; pages from there on may still be readable.
    var firstProtected = Int.max
    /// Whether reading needs the password, too.
    var protectsReading = false
    /// Whether the first two configuration pages cannot be written any more.
    var locksConfiguration = false
    /// The number of wrong passwords that lock the tag for good; 0 for no limit.
    var wrongPasswords = 0
    /// The key of an Ultralight C, K1 before K2; empty for others.
    var key: [UInt8] = []
    /// Whether an Ultralight AES wants a code with each command after an authentication.
    var wantsCodes = false
}
