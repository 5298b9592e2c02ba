// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import MIFAREClassic
import ReaderCore
import Testing
import VirtualReader

@testable import NFCForumTags

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
            var image = ClassicImage(bench.tag.kind)
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
        var image = ClassicImage(.k1)
        for sector in 0..<16 { #expect(try tag.readSector(sector, keys, into: &image)) }
        for block in 0..<64 { #expect(image.whole(block) == memory[block]) }
        #expect(reader.tried == [UInt8](repeating: 0x60, count: 16))
    }

    @Test("A sector without a key stays closed, and the next one opens")
    func withoutKey() throws {
        let bench = try Bench()
        var keys = ClassicKeys()
        keys.add(try #require(ClassicKey([UInt8](repeating: 0xFF, count: 6))))
        var image = ClassicImage(.k1)
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
            ("333333333333 078F0F 00 444444444444", ClassicError.WriteReason.wouldLock),
            ("333333333333 000000 00 444444444444", .accessBits), ("333333333333 FFFFFF 00 444444444444", .accessBits),
        ] {
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
        #expect(bench.card.memory == before)
        let locking = try trailer("333333333333 078F0F 00 444444444444")
        try bench.tag.write(trailer: locking, of: 1, bench.keys, isPermanent: true)
        #expect(bench.card.memory[7] == locking)
    }

    @Test("The card is gone")
    func gone() throws {
        let bench = try Bench()
        let reader = InProcessReader()
        let tag = try #require(ClassicTag(reader: reader, target: bench.tag.target))
        #expect(throws: ClassicError.self) { try tag.write(4, data, bench.keys) }
    }
}
