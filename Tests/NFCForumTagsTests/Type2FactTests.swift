// SPDX-License-Identifier: Apache-2.0

import NDEF
import NFCForumTags
import Testing

@Suite("Locks and configuration of Type 2 Tags")
struct Type2FactTests {
    /// Lock bytes and the pages that they lock.
    struct Lock: CustomTestStringConvertible, Sendable {
        let product: String?
        let fixed: [UInt8]
        let dynamic: [UInt8]
        let pages: [UInt16]
        var testDescription: String { "\(product ?? "-") \(fixed) \(dynamic)" }
    }

    static let locks = [
        Lock(product: "NTAG213", fixed: [0x00, 0x00], dynamic: [0, 0, 0], pages: []),
        Lock(product: "NTAG213", fixed: [0x07, 0x00], dynamic: [0, 0, 0], pages: []),
        Lock(product: "NTAG213", fixed: [0xF8, 0x81], dynamic: [0, 0, 0], pages: [3, 4, 5, 6, 7, 8, 15]),
        Lock(product: "NTAG213", fixed: [0, 0], dynamic: [0x81, 0x08, 0x3F], pages: [16, 17, 30, 31, 38, 39]),
        Lock(product: "NTAG213", fixed: [0, 0], dynamic: [0, 0xF0, 0], pages: []),
        Lock(product: "NTAG215", fixed: [0, 0], dynamic: [0x80, 0, 0], pages: [128, 129]),
        Lock(product: "NTAG216", fixed: [0, 0], dynamic: [0, 0x20, 0], pages: [224, 225]),
        Lock(product: "Ultralight C", fixed: [0, 0], dynamic: [0x12, 0, 0], pages: [16, 17, 18, 19]),
        Lock(product: "Ultralight C", fixed: [0, 0], dynamic: [0xE0, 0x0F, 0], pages: Array(28...39)),
        Lock(
            product: "Ultralight C", fixed: [0, 0], dynamic: [0x80, 0xFF, 0], pages: Array(36...39) + Array(41...47)),
        Lock(product: "Ultralight C", fixed: [0, 0], dynamic: [0, 0xA0, 0], pages: [42, 44, 45, 46, 47]),
        Lock(product: "NTAG203", fixed: [0, 0], dynamic: [0x1F, 0x0F, 0], pages: Array(16...27)),
        Lock(product: "NTAG203", fixed: [0, 0], dynamic: [0, 0xF0, 0], pages: [41]),
        Lock(product: "NTAG212", fixed: [0, 0], dynamic: [0x01, 0xFE, 0xFF], pages: [16, 17, 34, 35]),
        Lock(product: "NTAG213", fixed: [0, 0], dynamic: [0x03, 0, 0], pages: [16, 17, 18, 19]),
        Lock(product: "NTAG213", fixed: [0, 0], dynamic: [0, 0, 0x3F], pages: []),
        Lock(product: "NTAG215", fixed: [0, 0], dynamic: [0x01, 0xFF, 0x0F], pages: Array(16...31)),
        Lock(product: "NTAG216", fixed: [0, 0], dynamic: [0x80, 0xC1, 0x7F], pages: Array(128...159)),
        Lock(
            product: "Ultralight EV1 MF0UL21", fixed: [0, 0], dynamic: [0x80, 0x03, 0], pages: Array(30...35)),
        Lock(product: "Ultralight EV1 MF0UL11", fixed: [0, 0x80], dynamic: [], pages: [15]),
        Lock(product: "NTAG210", fixed: [0, 0x80], dynamic: [], pages: [15]),
        Lock(product: "Ultralight", fixed: [0x08, 0], dynamic: [], pages: [3]),
        Lock(product: nil, fixed: [0, 0x01], dynamic: [], pages: [8]),
    ]

    @Test("Pages locked by the lock bits", arguments: locks)
    func locked(_ lock: Lock) {
        let product = lock.product.flatMap(Type2Product.named)
        var memory = Type2Memory()
        memory[2] = [0, 0x48] + lock.fixed
        if let page = product?.dynamicLockPage { memory[page] = lock.dynamic + [0] }
        let locks = Type2Locks(memory: memory, product: product, layout: nil)
        #expect(locks.pages == lock.pages)
        #expect(locks.staticBytes == lock.fixed)
        #expect(locks.dynamicBytes == (lock.dynamic.isEmpty ? nil : lock.dynamic))
    }

    @Test("A lock control block locates the bits of an unknown product")
    func lockControl() throws {
        var memory = Type2Memory()
        memory[3] = [0xE1, 0x10, 0x12, 0]
        memory[4] = [0x01, 0x03, 0xA0, 0x10]
        memory[5] = [0x44, 0x03, 0x00, 0xFE]
        memory[40] = [0x02, 0x80, 0, 0]
        let capability = try #require(memory.capability)
        let layout = Type2Layout(capability, memory: memory)
        let locks = Type2Locks(memory: memory, product: nil, layout: layout)
        #expect(locks.pages == [20, 21, 22, 23, 76, 77, 78, 79])
        #expect(locks.dynamicBytes == [0x02, 0x80])
        #expect(locks.staticBytes == nil)
    }

    /// The Lock Control blocks that these leave the factory with (NXP data sheets), and the product.
    static let factory: [(product: String, block: [UInt8])] = [
        ("NTAG212", [0x01, 0x03, 0x90, 0x0A, 0x34]), ("NTAG213", [0x01, 0x03, 0xA0, 0x0C, 0x34]),
    ]

    @Test("The table agrees with each product's Lock Control block", arguments: factory)
    func factoryBlock(_ row: (product: String, block: [UInt8])) throws {
        let product = try #require(Type2Product.named(row.product))
        let last = try #require(product.userPages?.upperBound)
        for bit in 0..<16 {
            var memory = Type2Memory()
            memory[2] = [0, 0x48, 0, 0]
            memory[3] = [0xE1, 0x10, UInt8((last - 3) / 2), 0]
            memory[4] = Array(row.block.prefix(4))
            memory[5] = row.block.suffix(1) + [0x03, 0x00, 0xFE]
            let lockPage = try #require(product.dynamicLockPage)
            memory[lockPage] = bit < 8 ? [1 << UInt8(bit), 0, 0, 0] : [0, 1 << UInt8(bit - 8), 0, 0]
            let layout = try Type2Layout(#require(memory.capability), memory: memory)
            let known = Type2Locks(memory: memory, product: product, layout: layout).pages
            #expect(known == Type2Locks(memory: memory, product: nil, layout: layout).pages)
            #expect(known.count == (bit < Int(row.block[3]) ? 2 : 0))
        }
    }

    @Test("Pages with secrets, and unreadable pages")
    func secretPages() throws {
        let expected: [(name: String, secret: ClosedRange<UInt16>?, readable: UInt16)] = [
            ("Ultralight", nil, 16), ("Ultralight C", 0x2C...0x2F, 0x2C), ("NTAG203", nil, 42),
            ("Ultralight EV1 MF0UL11", 0x12...0x13, 20), ("Ultralight EV1 MF0UL21", 0x27...0x28, 41),
            ("NTAG213", 0x2B...0x2C, 45), ("NTAG215", 0x85...0x86, 135), ("NTAG216", 0xE5...0xE6, 231),
        ]
        for row in expected {
            let product = try #require(Type2Product.named(row.name))
            #expect(product.secretPages == row.secret, "\(row.name)")
            #expect(product.readablePageCount == row.readable, "\(row.name)")
        }
    }

    @Test func configuration() throws {
        var memory = Type2Memory()
        memory[0x29] = [0x04, 0, 0, 0x10]
        memory[0x2A] = [0xD3, 0, 0, 0]
        let ntag = try #require(Type2Product.named("NTAG213"))
        let read = try #require(Type2Configuration(memory: memory, product: ntag))
        #expect(read.firstProtectedPage == 16 && read.protects(16) && !read.protects(15))
        #expect(read.protectsReading && read.isLocked == true && read.countsReads == true)
        #expect(read.protectsCounter == false && read.passwordTries == 3)
        let c = try #require(Type2Product.ultralightC)
        memory[0x2B] = [1, 0, 0, 0]
        memory[0x2A] = [0x30, 0, 0, 0]
        let old = try #require(Type2Configuration(memory: memory, product: c))
        #expect(old.firstProtectedPage == 48 && !old.protectsReading && old.isLocked == nil)
        #expect(Type2Configuration(memory: Type2Memory(), product: ntag) == nil)
        #expect(try Type2Configuration(memory: memory, product: #require(.ultralight)) == nil)
    }

    @Test func memory() {
        var memory = Type2Memory(pages: [0: [1, 2, 3], 1: [1, 2, 3, 4]])
        #expect(memory[0] == nil && memory[1] == [1, 2, 3, 4])
        #expect(memory.byte(at: -1) == nil && memory.byte(at: 5) == 2 && memory.byte(at: 1 << 40) == nil)
        memory[1] = [1]
        #expect(memory[1] == nil && memory.uid == nil && memory.uidCheckIsRight == nil && memory.capability == nil)
        #expect(Type2Capability([0xE1, 0x10, 6]) == nil)
        let one = Type2Capability([0xE1, 0x10, 6, 0])
        #expect(one == Type2Capability([0xE1, 0x10, 6, 0]) && one != Type2Capability([0xE1, 0x10, 6, 0x0F]))
        #expect(Set([one, one]).count == 1)
    }
}
