// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import FeliCa
import NDEF
import NFCForumTags
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@Suite("Type 3 Tags")
struct Type3TagTests {
    /// Attribute information of the public suites.
    static let attributes: [(hex: String, nbr: Int, nbw: Int, blocks: Int, length: Int, isWritable: Bool)] = [
        ("10010100 05000000 00000100 00100028", 1, 1, 5, 16, true),
        ("10020200 03000000 00000100 0027003F", 2, 2, 3, 39, true),
        ("10020200 03000000 00000000 00000017", 2, 2, 3, 0, false),
        ("10040100 0D000000 00000100 00000023", 4, 1, 13, 0, true),
        ("100B0A00 93000000 00000100 000000B9", 11, 10, 147, 0, true),
    ]

    @Test("P31–P33 and P6-2", arguments: attributes)
    func fields(
        _ row: (hex: String, nbr: Int, nbw: Int, blocks: Int, length: Int, isWritable: Bool)
    ) throws {
        let read = Type3Attributes(try #require(Block(Hex.decode(row.hex))))
        #expect(read.majorVersion == 1 && read.minorVersion == 0 && read.isChecksumRight && !read.isBeingWritten)
        #expect(read.blocksPerRead == row.nbr && read.blocksPerWrite == row.nbw && read.blockCount == row.blocks)
        #expect(read.length == row.length && read.isWritable == row.isWritable && read.capacity == row.blocks * 16)
        #expect(read.changed(isBeingWritten: false, length: row.length) == read)
        #expect(
            read.changed(isBeingWritten: true, length: -1) == nil
                && read.changed(isBeingWritten: true, length: 1 << 24) == nil)
    }

    @Test("B4: begin and end of a write, byte for byte")
    func beginAndEnd() throws {
        let before = Type3Attributes(try #require(Block(Hex.decode("10040100 03000000 00000100 00270040"))))
        #expect(before.isChecksumRight)
        let begun = try #require(before.changed(isBeingWritten: true, length: 0x27))
        #expect(begun.block == Block(try Hex.decode("10040100 03000000 000F0100 0027004F")))
        let ended = try #require(begun.changed(isBeingWritten: false, length: 9))
        #expect(ended.block == Block(try Hex.decode("10040100 03000000 00000100 00090022")))
    }

    /// A tag of the fixture, with other blocks.
    private func reader(_ blocks: [UInt16: String] = [:]) throws -> (InProcessReader, Type3Tag, VirtualField) {
        var dump = try CardDump(parsing: TestFiles.read("Fixtures/cards/felica-lite-s/card.json"))
        for (number, hex) in blocks {
            dump.systems[0].services[1].blocks[number] = Block(try Hex.decode(hex))
        }
        let field = VirtualField(cards: [try VirtualCardFile.card(of: dump)])
        let reader = InProcessReader(field)
        let target = try #require(try reader.activateFeliCa(systems: [Type3Tag.system]))
        return (reader, Type3Tag(reader: reader, target: target), field)
    }

    @Test("A FeliCa Lite-S is read and written")
    func lite() throws {
        let (reader, tag, _) = try reader()
        let area = try tag.readNDEF()
        let message = try NDEFMessage(decoding: area.message)
        #expect(area.capacity == 208 && area.obstacle == nil)
        #expect(try message.records.map { try $0.content().word } == ["uri", "text"])
        let before = reader.transceives
        for count in [0, 1, 15, 16, 17, 200] {
            let new = try NDEFMessage([
                NDEFRecord(format: .unknown, payload: [UInt8](repeating: UInt8(count), count: count))
            ]).encoded()
            try tag.writeNDEF(new)
            #expect(try tag.readNDEF().message == new)
        }
        #expect(reader.transceives > before)
        let long = try NDEFMessage([NDEFRecord(format: .unknown, payload: [UInt8](repeating: 1, count: 206))]).encoded()
        #expect(throws: TagError.tooLong(length: 209, capacity: 208)) { try tag.writeNDEF(long) }
        try tag.writeNDEF([])
        #expect(try tag.readNDEF().message.isEmpty)
    }

    /// Attribute blocks without a message, and why.
    static let without: [(hex: String, reason: NDEFAbsence)] = [
        ("10040100 0D000000 00000100 00000024", .checksum), ("20040100 0D000000 00000100 00000033", .unknownVersion),
        ("10040100 0D000000 000F0100 00000032", .halfWritten),
        ("10040100 0D000000 00000100 FFFF0221", .lengthBeyondEnd),
        ("10040100 0D000000 00000100 00D100F4", .lengthBeyondEnd),
        ("00000000 00000000 00000000 00000000", .unknownVersion),
    ]

    @Test("Reasons for no message", arguments: without)
    func noMessage(_ row: (hex: String, reason: NDEFAbsence)) throws {
        let (_, tag, _) = try reader([0: row.hex])
        #expect(throws: TagError.noNDEF(row.reason)) { try tag.readNDEF() }
    }

    @Test("A new message replaces a half-written one")
    func overHalf() throws {
        let (_, tag, _) = try reader([0: "10040100 0D000000 000F0100 00000032"])
        try tag.writeNDEF([0xD0, 0, 0])
        #expect(try tag.readNDEF().message == [0xD0, 0, 0])
    }

    @Test("Nothing is written to a read-only tag")
    func refusals() throws {
        let readOnly = try reader([0: "10040100 0D000000 00000000 00000022"]).1
        #expect(throws: TagError.notWritable(.readOnly)) { try readOnly.writeNDEF([0xD0, 0, 0]) }
        let locked = try reader([0x88: "FEFF FF01 07000000 00000000 00000000"]).1
        #expect(throws: TagError.notWritable(.locked(page: 0))) { try locked.writeNDEF([0xD0, 0, 0]) }
        let second = try reader([0x88: "FDFF FF01 07000000 00000000 00000000"]).1
        #expect(throws: TagError.notWritable(.locked(page: 1))) { try second.writeNDEF([0xD0, 0, 0]) }
        #expect(try second.readNDEF().message.count == 53, "the old message is still there")
        let keyed = try reader([0x88: "FFFF FF01 07000000 0100 0000 00000000"]).1
        #expect(throws: TagError.notWritable(.passwordProtected(page: 0))) { try keyed.writeNDEF([0xD0, 0, 0]) }
    }

    @Test("After any fault: the old message, a tag marked as half written, or the new message")
    func interrupted() throws {
        let old = try reader().1.readNDEF().message
        let new = try NDEFMessage([NDEFRecord(format: .unknown, payload: [UInt8](repeating: 7, count: 100))]).encoded()
        var seen: Set<String> = []
        for exchange in 1...40 {
            let (_, tag, field) = try reader()
            field.plan(.cardAway(from: field.statistics.exchanges + exchange))
            _ = try? tag.writeNDEF(new)
            field.plan(InjectedFaults())
            do throws(TagError) {
                let after = try tag.readNDEF().message
                #expect(after == old || after == new, "\(exchange)")
                seen.insert(after == old ? "old" : "new")
            } catch {
                #expect(error == .noNDEF(.halfWritten), "\(exchange)")
                seen.insert("half")
            }
        }
        #expect(seen == ["old", "half", "new"])
    }

    @Test("A tag that leaves, and a damaged answer")
    func troubles() throws {
        let (_, tag, field) = try reader()
        field.removeCards()
        #expect(throws: TagError.tagLost) { try tag.readNDEF() }
    }

    @Test("The sum of the attributes has two bytes, which it does not count")
    func attributeSum() {
        let sum = [UInt8](repeating: 0x20, count: 14) + [0x01]
        #expect(Type3Attributes(Block(sum + [0xC0]) ?? .zero).isChecksumRight)
        #expect(!Type3Attributes(Block(sum + [0xC1]) ?? .zero).isChecksumRight)
    }
}
