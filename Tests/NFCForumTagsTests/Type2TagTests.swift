// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import NDEF
import NFCForumTags
import ReaderCore
import TestSupport
import Testing

@Suite("Type 2 Tags")
struct Type2TagTests {
    /// GET_VERSION of the public suites and of the data sheets, and the product.
    static let versions: [(version: String, name: String)] = [
        ("000403010100 0B03", "Ultralight EV1 MF0UL11"), ("000403020100 0B03", "Ultralight EV1 MF0ULH11"),
        ("000403010100 0E03", "Ultralight EV1 MF0UL21"), ("000404010100 0B03", "NTAG210"),
        ("000404010100 0E03", "NTAG212"), ("000404020100 0F03", "NTAG213"), ("000404020100 1103", "NTAG215"),
        ("000404020100 1303", "NTAG216"), ("000404050202 1303", "NTAG I2C plus 1K NT3H2111"),
    ]

    @Test("PV1–PV3 and the other products", arguments: versions)
    func version(_ row: (version: String, name: String)) throws {
        let version = try Hex.decode(row.version)
        #expect(Type2Product.of(version: version)?.name == row.name)
        let reader = FakeType2Reader(try Type2Memories.pages("04010203 04050607", count: 16), version: version)
        #expect(try reader.tag.product()?.name == row.name)
        #expect(try reader.tag.version() == version)
    }

    /// An ACR122U loses one answer (libnfc issue 532): an NTAG still counts as an NTAG.
    @Test(
        "A version that is lost or damaged once is asked for again",
        arguments: [FakeType2Reader.InjectedFault.deaf, .damaged])
    func lostVersion(_ fault: FakeType2Reader.InjectedFault) throws {
        let reader = FakeType2Reader(
            try Type2Memories.pages("04010203 04050607", count: 16), version: try Hex.decode("0004040201001303"))
        reader.troubles = [1: fault]
        #expect(try reader.tag.product()?.name == "NTAG216")
    }

    @Test func table() {
        #expect(Type2Product.faults == [])
        #expect(Type2Product.of(version: [0, 4, 9, 9, 9, 9, 9, 3]) == nil)
        #expect(Type2Product.of(version: [4]) == nil)
        #expect(Type2Product.all.count >= Self.versions.count)
    }

    @Test("Products without GET_VERSION are identified by their other answers")
    func withoutVersion() throws {
        func reader(_ count: Int, _ version: [UInt8]?) throws -> FakeType2Reader {
            FakeType2Reader(try Type2Memories.pages("04010203 04050607", count: count), version: version)
        }
        #expect(try reader(16, []).tag.product() == .ultralight)
        #expect(try reader(42, nil).tag.product() == .ntag203)
        let c = try reader(48, nil)
        c.isUltralightC = true
        #expect(try c.tag.product() == .ultralightC)
        #expect(try reader(64, []).tag.product() == nil, "a clone with more memory is named nothing")
        #expect(try reader(64, nil).tag.product() == nil)
    }

    @Test("Signature and counters")
    func extras() throws {
        let reader = try Type2Memories.fresh213()
        reader.signature = [UInt8](repeating: 9, count: 32)
        reader.counters[2] = 0x01_0203
        #expect(try reader.tag.signature() == reader.signature)
        #expect(try reader.tag.counter(2) == 0x01_0203)
        #expect(try reader.tag.counter(0) == nil)
        reader.signature = nil
        #expect(try reader.tag.signature() == nil)
    }

    @Test("A refused command is followed by a new selection, so that the next one works")
    func afterNAK() throws {
        let reader = try Type2Memories.fresh213()
        let tag = reader.tag
        #expect(throws: TagError.refused(page: 0x40, nak: 0)) { try tag.read(page: 0x40) }
        #expect(reader.activations == 1)
        #expect(try tag.read(page: 3).prefix(4) == [0xE1, 0x10, 0x12, 0x00])
    }

    @Test("Pages of a second sector")
    func sectors() throws {
        let reader = FakeType2Reader(try Type2Memories.pages("04010203 04050607", count: 300), version: nil)
        reader.sectors = 2
        reader.pages[257] = [1, 2, 3, 4]
        let tag = reader.tag
        #expect(try tag.page(257) == [1, 2, 3, 4])
        #expect(reader.frames.prefix(2) == [[0xC2, 0xFF], [1, 0, 0, 0]])
        #expect(try tag.page(0) == [4, 1, 2, 3])
        reader.sectors = 1
        #expect(throws: TagError.self) { try tag.page(513) }
    }

    @Test("Raw writes")
    func rawWrites() throws {
        let reader = try Type2Memories.fresh213()
        let tag = reader.tag
        try tag.write(page: 8, [1, 2, 3, 4])
        #expect(try tag.page(8) == [1, 2, 3, 4])
        #expect(throws: TagError.badAnswer) { try tag.write(page: 8, [1, 2, 3]) }
        #expect(throws: TagError.refused(page: 0, nak: 0)) { try tag.write(page: 0, [1, 2, 3, 4]) }
    }

    @Test("A tag that leaves, is swapped, or a reader that fails")
    func troubles() throws {
        func fails(_ troubles: [Int: FakeType2Reader.InjectedFault], _ error: TagError) throws {
            let reader = try Type2Memories.fresh213()
            reader.troubles = troubles
            #expect(throws: error) { try reader.tag.read(page: 4) }
        }
        try fails([1: .gone], .tagLost)
        try fails([1: .damaged, 2: .gone], .tagLost)
        try fails([1: .broken], .transport(.readerTimeout))
        try fails([1: .deaf, 2: .deaf], .refused(page: 4, nak: nil))
        try fails(Dictionary(uniqueKeysWithValues: (1...4).map { ($0, .damaged) }), .transport(.corrupted(status: 2)))
        try fails(Dictionary(uniqueKeysWithValues: (1...4).map { ($0, .answer([1, 2])) }), .badAnswer)
        let reader = try Type2Memories.fresh213()
        reader.troubles = [1: .damaged, 2: .deaf, 3: .answer([1, 2, 3])]
        #expect(try reader.tag.read(page: 4).count == 16)
        let token = CancellationToken()
        token.cancel()
        let cancelled = Type2Tag(reader: reader, target: reader.target, cancellation: token)
        #expect(throws: TagError.cancelled) { try cancelled.read(page: 4) }
        let swapped = try Type2Memories.fresh213()
        let tag = swapped.tag
        swapped.troubles = [1: .swapped, 2: .deaf]
        _ = try? tag.read(page: 4)
        #expect(throws: TagError.tagLost) { try tag.read(page: 0x70) }
    }

    @Test("A read-protected tag gives its open pages")
    func protected() throws {
        let reader = try Type2Memories.fresh213()
        reader.closedFrom = 6
        #expect(throws: TagError.noNDEF(.notReadable)) {
            reader.pages[4] = [3, 20, 0xD1, 1]
            _ = try reader.tag.readNDEF()
        }
    }

    @Test func recognizesPossibleTags() {
        #expect(Type2Tag.mayBe(TypeATarget(uid: [1, 2, 3, 4], sak: 0, isISODEP: false)))
        #expect(Type2Tag.mayBe(TypeATarget(uid: [1, 2, 3, 4], sak: nil, isISODEP: false)))
        #expect(!Type2Tag.mayBe(TypeATarget(uid: [1, 2, 3, 4], sak: 8, isISODEP: false)))
        #expect(!Type2Tag.mayBe(TypeATarget(uid: [1, 2, 3, 4], sak: 0x20, isISODEP: true)))
    }

    @Test("Random answers at every exchange end in a value or an error", arguments: 1...20 as ClosedRange<UInt64>)
    func hostile(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<40 {
            let reader = try Type2Memories.fresh213()
            for exchange in 1...80 where Int.random(in: 0..<3, using: &generator) == 0 {
                let count = [0, 1, 1, 8, 16, 16, 32, 64].randomElement(using: &generator) ?? 1
                reader.troubles[exchange] = .answer(
                    (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
            }
            _ = try? reader.tag.readNDEF()
            _ = try? reader.tag.writeNDEF([0xD0, 0, 0])
            #expect(reader.frames.count < 600)
        }
    }

    @Test("Random memories are parsed once, whatever their lengths", arguments: 1...20 as ClosedRange<UInt64>)
    func hostileMemory(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in TestEffort.rounds(40) {
            var pages: [UInt16: [UInt8]] = [:]
            for page in 0..<UInt16(64) {
                pages[page] = (0..<4).map { _ in
                    [0, 1, 2, 3, 0xFD, 0xFF, UInt8.random(in: 0...255, using: &generator)].randomElement(
                        using: &generator) ?? 0
                }
            }
            pages[3] = [0xE1, 0x10, UInt8.random(in: 0...255, using: &generator), 0]
            let memory = Type2Memory(pages: pages)
            let capability = try #require(memory.capability)
            let layout = Type2Layout(capability, memory: memory)
            _ = Type2Locks(memory: memory, product: Type2Product.all.randomElement(using: &generator), layout: layout)
            let capacity = Type2WritePlan.capacity(layout)
            let plan = Type2WritePlan(message: [UInt8](repeating: 1, count: capacity), layout: layout, memory: memory)
            if let plan, layout.end != .lengthBeyondEnd {
                var after = memory
                for write in plan.writes { after[write.page] = write.bytes }
                let again = Type2Layout(capability, memory: after)
                #expect(again.message?.value.count == capacity)
            }
        }
    }
}
