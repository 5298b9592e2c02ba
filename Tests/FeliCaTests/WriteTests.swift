// SPDX-License-Identifier: Apache-2.0

import CardModel
import FeliCa
import Testing

/// Vectors B3 and B4 for Write Without Encryption: nfcpy `test_tag_tt3.py`, `test_tag_tt3_sony.py`.
@Suite struct WriteTests {
    static let service = ServiceCode(rawValue: 0x0009)

    struct Vector: Sendable {
        let services: [ServiceCode]
        let blocks: BlockList
        let data: [String]
        let bytes: String
    }

    static let vectors: [Vector] = [
        Vector(
            services: [service], blocks: BlockList(numbers: 0...1),
            data: ["000102030405060708090A0B0C0D0E0F", "101112131415161718191A1B1C1D1E1F"],
            bytes: "3208<I>0109000280008001"
                + "000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F"),
        Vector(
            services: [service, ServiceCode(rawValue: 0x0049)],
            blocks: [.init(number: 0), .init(serviceIndex: 1, number: 1)],
            data: ["000102030405060708090A0B0C0D0E0F", "101112131415161718191A1B1C1D1E1F"],
            bytes: "3408<I>02090049000280008101"
                + "000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F"),
        Vector(
            services: [service], blocks: BlockList(numbers: [0x80]),
            data: ["07060504030201000F0E0D0C0B0A0908"],
            bytes: "2008<I>010900018080 0706050403020100 0F0E0D0C0B0A0908"),
        Vector(
            services: [service], blocks: BlockList(numbers: [0x87]),
            data: ["37363534333231306665646362613938"],
            bytes: "2008<I>010900018087 3736353433323130 6665646362613938"),
        Vector(
            services: [service], blocks: BlockList(numbers: [0x92, 0x91]),
            data: ["01000000000000000000000000000000", "17C19E3BBDC3E8BD00FEFF0000000000"],
            bytes: "3208<I>0109000280928091 01000000000000000000000000000000 17C19E3BBDC3E8BD 00FEFF00 00000000"),
        Vector(
            services: [service], blocks: BlockList(numbers: [0]), data: ["1004010003000000000F01000027004F"],
            bytes: "2008<I>010900018000 10040100 03000000 000F0100 0027004F"),
    ]

    @Test(arguments: vectors) func packetIsExact(_ vector: Vector) throws {
        let data = try vector.data.map { try #require(Block(try packet($0))) }
        let command = WriteWithoutEncryption(services: vector.services, blocks: vector.blocks, data: data)
        #expect(try command.packet(for: testIDm) == packet(vector.bytes))
        #expect(try answer(to: command, "0C09<I>0000").isSuccess)
    }

    static let one = WriteWithoutEncryption(services: [service], blocks: BlockList(numbers: [0]), data: [.zero])

    @Test(arguments: ["0C09<I>0071", "0C09<I>FF71"]) func reportsWornMemoryAsAWarning(_ text: String) throws {
        let flags = try answer(to: Self.one, text)
        #expect(flags.isWarning)
        #expect(!flags.isSuccess)
    }

    @Test(arguments: [
        ("0C09<I>01A6", FeliCaError.status(StatusFlags(0x01, 0xA6))),
        ("0C09<I>0070", .status(StatusFlags(0x00, 0x70))),
        ("0C09<I>FF70", .status(StatusFlags(0xFF, 0x70))),
        ("0D09<I>000000", .malformed(.writeWithoutEncryption, .trailingBytes(extra: 1))),
        ("0B09<I>00", .malformed(.writeWithoutEncryption, .tooShort(missing: 1))),
        ("0C07<I>0000", .malformed(.writeWithoutEncryption, .responseCode(0x07))),
    ])
    func refusals(_ text: String, _ error: FeliCaError) throws {
        #expect(try refusal(of: Self.one, text) == error)
    }

    @Test func thirteenBlocksFitWithOneService() throws {
        let blocks = [Block](repeating: .zero, count: 13)
        let full = WriteWithoutEncryption(services: [Self.service], blocks: BlockList(numbers: 0..<13), data: blocks)
        #expect(try full.packet(for: testIDm).count == 248)
        let more = WriteWithoutEncryption(
            services: [Self.service], blocks: BlockList(numbers: 0..<14), data: blocks + [.zero])
        #expect(throws: FeliCaError.invalidArgument(.count(.blocks, 14, allowed: 1...13))) {
            try more.packet(for: testIDm)
        }
    }

    @Test func elevenBlocksFitWithSixteenServices() throws {
        let services = (0..<16).map { ServiceCode(rawValue: UInt16($0) << 6 | 0x09) }
        func command(_ count: Int) -> WriteWithoutEncryption {
            let elements = (0..<count).map { BlockListElement(serviceIndex: $0, number: 0x100) }
            return WriteWithoutEncryption(
                services: services, blocks: BlockList(elements), data: [Block](repeating: .zero, count: count))
        }
        #expect(try command(11).packet(for: testIDm).count == 253)
        #expect(throws: FeliCaError.invalidArgument(.packetTooLong(272))) { try command(12).packet(for: testIDm) }
    }

    @Test func everyElementNeedsItsBlock() {
        let command = WriteWithoutEncryption(services: [Self.service], blocks: BlockList(numbers: 0..<3), data: [.zero])
        #expect(throws: FeliCaError.invalidArgument(.count(.blockData, 1, allowed: 3...3))) {
            try command.packet(for: testIDm)
        }
    }

    @Test(arguments: [0, 17]) func serviceCount(_ count: Int) {
        let command = WriteWithoutEncryption(
            services: [ServiceCode](repeating: Self.service, count: count), blocks: BlockList(numbers: [0]),
            data: [.zero])
        #expect(throws: FeliCaError.invalidArgument(.count(.services, count, allowed: 1...16))) {
            try command.packet(for: testIDm)
        }
    }

    @Test func overTheChannel() throws {
        let channel = RecordingChannel([try packet("0C09<I>0000")])
        let system = FeliCaSystem(channel: channel, idm: testIDm, pmm: PMm(rawValue: 0))
        try system.writeWithoutEncryption(services: [Self.service], blocks: BlockList(numbers: [0]), data: [.zero])
        #expect(channel.sent == [try Self.one.packet(for: testIDm)])
        #expect(channel.timeouts == [ResponseTime(system.pmm).maximum(.write, units: 1)])
    }
}
