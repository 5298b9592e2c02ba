// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import MIFAREClassic
import ReaderCore
import TestSupport
import Testing

@testable import NFCForumTags
@testable import VirtualCards
@testable import VirtualReader

@Suite("MIFARE Classic with its owner's keys")
struct ClassicTagTests {
    /// A card whose sector 1 has keys of its own and other access bits.
    private struct Bench {
        let card: VirtualClassicCard
        let tag: ClassicTag
        var keys = ClassicKeys()

        init(
            _ trailer: String = "111111111111 787788 69 222222222222", uid: String = "90D307C1", blocks: Int = 64
        ) throws {
            var memory = try #require(ClassicMemory(blockCount: blocks, uid: Hex.decode(uid)))
            memory.write(7, try Hex.decode(trailer))
            memory.write(5, ClassicValue(100, address: 5).block)
            card = VirtualClassicCard(memory, atqa: nil, sak: nil)
            let reader = InProcessReader(card)
            guard case .typeA(let target)? = try reader.activate(.typeA()) else { throw TagError.tagLost }
            tag = try #require(ClassicTag(reader: reader, target: target))
            add("FFFFFFFFFFFF", nil, nil)
            add("111111111111", 1, .a)
            add("222222222222", 1, .b)
        }

        mutating func add(_ text: String, _ sector: Int?, _ type: ClassicKeyType?) {
            if let key = (try? Hex.decode(text)).flatMap({ ClassicKey($0) }) {
                keys.add(key, sector: sector, type: type)
            }
        }
    }

    private let data = [UInt8](0..<16)

    @Test("Everything is read, with the keys that fit", arguments: ["90D307C1", "045D46B2505D80"])
    func readsAll(uid: String) throws {
        for blocks in [20, 64, 256] {
            let bench = try Bench(uid: uid, blocks: blocks)
            var image = ClassicDump(bench.tag.kind)
            for sector in 0..<bench.tag.kind.sectorCount {
                #expect(try bench.tag.readSector(sector, bench.keys, into: &image))
            }
            for block in 0..<blocks { #expect(image.whole(block) == bench.card.memory[block], "\(block)") }
        }
    }

    /// A reader that notes which key is tried.
    private final class NotingReader: Reader {
        private let reader: any Reader
        private(set) var tried: [UInt8] = []

        init(_ reader: any Reader) { self.reader = reader }

        var information: ReaderInformation { reader.information }
        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? { try reader.activate(request) }
        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            if let code = frame.first, code == 0x60 || code == 0x61 { tried.append(code) }
            return try reader.transceive(frame, timeout: timeout)
        }
        func close() {}
    }

    @Test("Key B is not tried where key A reads it, as from the factory")
    func factoryCard() throws {
        let memory = try #require(ClassicMemory(blockCount: 64, uid: Hex.decode("90D307C1")))
        let reader = NotingReader(InProcessReader(VirtualClassicCard(memory, atqa: nil, sak: nil)))
        guard case .typeA(let target)? = try reader.activate(.typeA()) else { throw TagError.tagLost }
        let tag = try #require(ClassicTag(reader: reader, target: target))
        var keys = ClassicKeys()
        keys.add(try #require(ClassicKey([UInt8](repeating: 0xFF, count: 6))))
        var image = ClassicDump(.k1)
        for sector in 0..<16 { #expect(try tag.readSector(sector, keys, into: &image)) }
        for block in 0..<64 { #expect(image.whole(block) == memory[block]) }
        #expect(reader.tried == [UInt8](repeating: 0x60, count: 16))
    }

    @Test("A sector without a key stays closed, and the next one opens")
    func withoutKey() throws {
        let bench = try Bench()
        var keys = ClassicKeys()
        keys.add(try #require(ClassicKey([UInt8](repeating: 0xFF, count: 6))))
        var image = ClassicDump(.k1)
        #expect(try !bench.tag.readSector(1, keys, into: &image))
        #expect(try bench.tag.readSector(2, keys, into: &image))
        #expect(image[4] == nil && image.whole(8) != nil)
        #expect(throws: ClassicError.noKey(sector: 1)) { try bench.tag.checkWriting(4, keys) }
    }

    @Test("Written with the key that may, read back")
    func writes() throws {
        let bench = try Bench()
        try bench.tag.write(4, data, bench.keys)
        #expect(bench.card.memory[4] == data)
        try bench.tag.write(8, data, bench.keys)
        #expect(bench.card.memory[8] == data)
        var onlyA = ClassicKeys()
        onlyA.add(try #require(ClassicKey([UInt8](repeating: 0x11, count: 6))), type: .a)
        #expect(throws: ClassicError.notWritable(block: 4, .accessConditions)) { try bench.tag.write(4, data, onlyA) }
        #expect(throws: ClassicError.notWritable(block: 0, .manufacturer)) { try bench.tag.write(0, data, bench.keys) }
        #expect(throws: ClassicError.notWritable(block: 7, .trailer)) { try bench.tag.write(7, data, bench.keys) }
        #expect(throws: ClassicError.notWritable(block: 64, .absent)) { try bench.tag.write(64, data, bench.keys) }
    }

    @Test("C6 to C9: values are changed in the card")
    func values() throws {
        let bench = try Bench("111111111111 08778F 69 222222222222")
        #expect(try bench.tag.value(5, bench.keys) == ClassicValue(100, address: 5))
        #expect(try bench.tag.change(5, by: 1, bench.keys).value == 101)
        #expect(try bench.tag.change(5, by: -201, bench.keys).value == -100)
        #expect(throws: ClassicError.notAValue(block: 5)) { try bench.tag.change(5, by: .min, bench.keys) }
        #expect(throws: ClassicError.notAValue(block: 6)) { try bench.tag.value(6, bench.keys) }
        _ = try bench.tag.unlock(1, bench.keys)
        try bench.tag.transfer(.restore, from: 5, to: 6)
        #expect(bench.card.memory[6] == bench.card.memory[5])
    }

    private func trailer(_ text: String) throws -> [UInt8] { try Hex.decode(text) }

    @Test("A trailer is written with both keys, and its keys are proved")
    func trailers() throws {
        let bench = try Bench()
        let new = try trailer("333333333333 787788 00 444444444444")
        try bench.tag.write(trailer: new, of: 1, bench.keys, isPermanent: false)
        #expect(bench.card.memory[7] == new)
        let factory = try trailer("555555555555 FF0780 69 666666666666")
        try bench.tag.write(trailer: factory, of: 2, bench.keys, isPermanent: false)
        #expect(bench.card.memory[11] == factory)
    }

    @Test("A trailer that would lock its owner out, or block the sector, is not written")
    func dangerous() throws {
        let bench = try Bench()
        let before = bench.card.memory
        for (text, reason) in [
            ("333333333333 078F0F 00 444444444444", .wouldLock([.accessBits, .writing([4, 5, 6])])),
            ("333333333333 000000 00 444444444444", .accessBits), ("333333333333 FFFFFF 00 444444444444", .accessBits),
        ] as [(String, ClassicError.WriteReason)] {
            let bytes = try trailer(text)
            #expect(throws: ClassicError.notWritable(block: 7, reason)) {
                try bench.tag.write(trailer: bytes, of: 1, bench.keys, isPermanent: false)
            }
        }
        var onlyB = ClassicKeys()
        onlyB.add(try #require(ClassicKey([UInt8](repeating: 0x22, count: 6))), type: .b)
        let good = try trailer("333333333333 787788 00 444444444444")
        #expect(throws: ClassicError.notWritable(block: 7, .needsBothKeys)) {
            try bench.tag.write(trailer: good, of: 1, onlyB, isPermanent: false)
        }
        #expect(bench.card.memory.bytes == before.bytes)
        let locking = try trailer("333333333333 078F0F 00 444444444444")
        try bench.tag.write(trailer: locking, of: 1, bench.keys, isPermanent: true)
        #expect(bench.card.memory[7] == locking)
    }

    // MARK: What a trailer may take away

    /// What can be done with sector 1, tried on the card itself, with commands in plain text.
    private struct Abilities: Equatable {
        var changesAccess = false
        var reads: Set<Int> = []
        var writes: Set<Int> = []

        init(_ memory: ClassicMemory, _ keyA: [UInt8], _ keyB: [UInt8]) {
            for (code, key) in [(0x60, keyA), (0x61, keyB)] as [(UInt8, [UInt8])] {
                func opened() -> ClassicMemory? {
                    var memory = memory
                    guard case .acknowledge = memory.take([code, 7] + key + memory.uid.suffix(4)) else { return nil }
                    return memory
                }
                guard var card = opened() else { continue }
                for block in 4...6 {
                    if case .data = card.take([0x30, UInt8(block)]) { reads.insert(block) }
                    if case .acknowledge = card.take([0xA0, UInt8(block)] + [UInt8](repeating: 0x5A, count: 16)) {
                        writes.insert(block)
                    }
                }
                let access = card[7][6..<9]
                let factory: [UInt8] =
                    access.elementsEqual([0xFF, 0x07, 0x80]) ? [0x78, 0x77, 0x88] : [0xFF, 0x07, 0x80]
                _ = card.take([0xA0, 7] + keyA + factory + [0x69] + keyB)
                if card[7][6..<9].elementsEqual(factory) { changesAccess = true }
            }
        }
    }

    private static let keyA = [UInt8](repeating: 0x11, count: 6)
    private static let keyB = [UInt8](repeating: 0x22, count: 6)

    /// A trailer with these conditions, whose keys are those of the bench or new ones.
    private func trailer(_ number: Int, isNew: Bool = true) throws -> [UInt8] {
        let access = try #require(ClassicAccess(conditions: (0..<4).map { UInt8(number >> (3 * $0) & 7) }))
        let keys =
            isNew ? ([UInt8](repeating: 0x33, count: 6), [UInt8](repeating: 0x44, count: 6)) : (Self.keyA, Self.keyB)
        return keys.0 + access.bytes + [0x69] + keys.1
    }

    @Test(
        "All 4,096 access conditions: what is written without --permanent can be undone, and what is refused could not")
    func everyTrailer() throws {
        var accepted = 0
        for number in 0..<4096 {
            let bench = try Bench("111111111111 FF0780 69 222222222222")
            let before = bench.card.memory
            let new = try trailer(number)
            var future = before
            future.write(7, new)
            let abilities = Abilities(future, Array(new[..<6]), Array(new[10...]))
            let isSafe = abilities.changesAccess && abilities.reads == [4, 5, 6] && abilities.writes == [4, 5, 6]
            do throws(ClassicError) {
                try bench.tag.write(trailer: new, of: 1, bench.keys, isPermanent: false)
                #expect(isSafe, "\(number)")
                #expect(bench.card.memory.bytes == future.bytes, "\(number)")
                accepted += 1
                // It really can be undone, with the new keys.
                var keys = ClassicKeys()
                for (type, range) in [(ClassicKeyType.a, 0..<6), (.b, 10..<16)] {
                    if let key = ClassicKey(Array(new[range])) { keys.add(key, sector: 1, type: type) }
                }
                for block in 4...6 { try bench.tag.write(block, data, keys) }
                let back = Array(new[..<6]) + [0xFF, 0x07, 0x80, 0x69] + Array(new[10...])
                try bench.tag.write(trailer: back, of: 1, keys, isPermanent: false)
                #expect(bench.card.memory[7] == back, "\(number)")
            } catch .notWritable(block: 7, .wouldLock(let losses)) {
                #expect(!isSafe && bench.card.memory.bytes == before.bytes, "\(number)")
                let missing = Set(4...6)
                var expected: [ClassicError.Loss] = abilities.changesAccess ? [] : [.accessBits]
                let (reads, writes) = (missing.subtracting(abilities.reads), missing.subtracting(abilities.writes))
                if !reads.isEmpty { expected.append(.reading(reads.sorted())) }
                if !writes.isEmpty { expected.append(.writing(writes.sorted())) }
                #expect(losses == expected, "\(number)")
            } catch {
                Issue.record("\(number): \(error)")
            }
        }
        // Trailer 1 with data 0; trailers 3 and 5 with data 0, 3, 4 and 6.
        #expect(accepted == 129)
    }

    @Test("From any condition to any other, a write never takes away what a key could do")
    func fromAnyToAny() throws {
        var generator = SplitMix64(seed: 49)
        var written = 0
        for _ in TestEffort.rounds(2000) {
            let (old, number) = (
                Int.random(in: 0..<4096, using: &generator), Int.random(in: 0..<4096, using: &generator)
            )
            let bench = try Bench(Hex.encode(trailer(old, isNew: false)))
            let before = bench.card.memory
            let earlier = Abilities(before, Self.keyA, Self.keyB)
            let isNew = Bool.random(using: &generator)
            let new = try trailer(number, isNew: isNew)
            do throws(ClassicError) {
                try bench.tag.write(trailer: new, of: 1, bench.keys, isPermanent: false)
                let later = Abilities(bench.card.memory, Array(new[..<6]), Array(new[10...]))
                #expect(later.changesAccess, "\(old) \(number)")
                #expect(later.reads.isSuperset(of: earlier.reads), "\(old) \(number)")
                #expect(later.writes.isSuperset(of: earlier.writes), "\(old) \(number)")
                #expect(bench.card.memory[7] == new, "\(old) \(number)")
                written += 1
            } catch {
                #expect(bench.card.memory.bytes == before.bytes, "\(old) \(number): \(error)")
            }
        }
        #expect(written > 0)
    }

    @Test("Access bits that can be changed while the keys cannot are changed")
    func keysAreLocked() throws {
        // Trailer 101: key B writes the access bits, and nobody the keys.
        let bench = try Bench(Hex.encode(trailer(0o5000, isNew: false)))
        let back = try trailer("111111111111 FF0780 69 222222222222")
        let other = try trailer("333333333333 FF0780 69 222222222222")
        #expect(throws: ClassicError.notWritable(block: 7, .accessConditions)) {
            try bench.tag.write(trailer: other, of: 1, bench.keys, isPermanent: false)
        }
        try bench.tag.write(trailer: back, of: 1, bench.keys, isPermanent: false)
        #expect(bench.card.memory[7] == back)
    }

    @Test("In a sector of sixteen blocks a loss names all five")
    func lossOfFive() throws {
        let bench = try Bench(blocks: 256)
        // Data 4, 0, 0 becomes 7, 0, 0.
        let access = try #require(ClassicAccess(conditions: [7, 0, 0, 3]))
        let new = Self.keyA + access.bytes + [0x00] + Self.keyB
        #expect(
            throws: ClassicError.notWritable(
                block: 143, .wouldLock([.reading(Array(128...132)), .writing(Array(128...132))]))
        ) {
            try bench.tag.checkWriting(trailer: new, of: 32, bench.keys, isPermanent: false)
        }
        let message = ClassicError.WriteReason.wouldLock([.accessBits, .reading([4, 5, 6]), .writing([5])]).message
        #expect(message.english == "afterwards no key could change the access bits or read blocks 4-6 or write block 5")
    }

    // MARK: What is not known

    @Test("A sector that a key opens and does not let be read is not known, and not zeros")
    func opensWithoutReading() throws {
        // Key B is data there, and opens nothing that can be read.
        let bench = try Bench("111111111111 FF0780 69 222222222222")
        var onlyB = ClassicKeys()
        onlyB.add(try #require(ClassicKey(Self.keyB)), sector: 1, type: .b)
        var image = ClassicDump(.k1)
        #expect(try bench.tag.readSector(1, onlyB, into: &image))
        #expect((4...6).allSatisfy { image[$0] == nil } && image.key(.b, of: 1) != nil && image.key(.a, of: 1) == nil)
        #expect(image.sectorsWithoutAccess.contains(1))
        // All data blocks 111.
        let closed = try Bench(Hex.encode(trailer(0o1777, isNew: false)))
        var other = ClassicDump(.k1)
        #expect(try closed.tag.readSector(1, closed.keys, into: &other))
        #expect((4...6).allSatisfy { other[$0] == nil } && !other.sectorsWithoutAccess.contains(1))
    }

    @Test("The card is gone")
    func gone() throws {
        let bench = try Bench()
        let reader = InProcessReader()
        let tag = try #require(ClassicTag(reader: reader, target: bench.tag.target))
        #expect(throws: ClassicError.self) { try tag.write(4, data, bench.keys) }
    }
}
