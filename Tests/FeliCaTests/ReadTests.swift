// SPDX-License-Identifier: Apache-2.0

import CardModel
import FeliCa
import ReaderCore
import Testing

/// Vectors B3 to B5 for Read Without Encryption: nfcpy `test_tag_tt3.py`, `test_tag_tt3_sony.py`; felica-rs.
@Suite struct ReadTests {
    static let service = ServiceCode(rawValue: 0x000B)
    static let zeros = String(repeating: "00", count: 16)

    struct Request: Sendable {
        let services: [ServiceCode]
        let blocks: BlockList
        let bytes: String
    }

    static let requests: [Request] = [
        Request(services: [service], blocks: [.init(number: 0), .init(number: 1)], bytes: "1206<I>010B000280008001"),
        Request(
            services: [service, service], blocks: [.init(number: 0), .init(serviceIndex: 1, number: 1)],
            bytes: "1406<I>020B000B000280008101"),
        Request(services: [service], blocks: [.init(number: 0x88)], bytes: "1006<I>010B00018088"),
        Request(services: [service], blocks: [.init(number: 0)], bytes: "1006<I>010B00018000"),
        Request(
            services: [service], blocks: [.init(number: 0x82), .init(number: 0x81)], bytes: "1206<I>010B000280828081"),
        Request(services: [service], blocks: [.init(number: 256)], bytes: "1106<I>010B0001000001"),
    ]

    @Test(arguments: requests) func packetIsExact(_ request: Request) throws {
        let command = ReadWithoutEncryption(services: request.services, blocks: request.blocks)
        #expect(try command.packet(for: testIDm) == packet(request.bytes))
    }

    @Test func blocksComeInRequestedOrder() throws {
        let (first, second) = (try counting(), try counting(from: 0x10))
        let command = ReadWithoutEncryption(services: [Self.service], blocks: BlockList(numbers: 0...1))
        #expect(try answer(to: command, "2D07<I>000002\(first)\(second)") == [first, second])
    }

    @Test func oneBlock() throws {
        let command = ReadWithoutEncryption(services: [Self.service], blocks: BlockList(numbers: [0x88]))
        #expect(try answer(to: command, "1D07<I>000001\(Self.zeros)") == [.zero])
    }

    /// FeliCa Lite with a MAC read along (nfcpy): the MAC fills the first half of its block.
    @Test func identifierWithItsMAC() throws {
        let command = ReadWithoutEncryption(services: [Self.service], blocks: BlockList(numbers: [0x82, 0x81]))
        let blocks = try answer(to: command, "2D07<I>000002\(Self.zeros)CC97F1B97B8BBC790000000000000000")
        #expect(blocks.map(\.description) == [Self.zeros, "CC97F1B97B8BBC790000000000000000"])
    }

    @Test func ndefAttributeOfAStandardCard() throws {
        let channel = RecordingChannel([try packet("1D07<I>000001100B0A009300000000000100000000B9")])
        let system = FeliCaSystem(channel: channel, idm: testIDm, pmm: PMm(rawValue: .max))
        let blocks = try system.readWithoutEncryption(services: [Self.service], blocks: BlockList(numbers: [0]))
        #expect(blocks.map(\.description) == ["100B0A009300000000000100000000B9"])
        #expect(channel.sent == [try packet("1006<I>010B00018000")])
    }

    struct Bad: Sendable {
        let bytes: String
        let error: FeliCaError
    }

    static let bad: [Bad] = [
        Bad(bytes: "2C07<I>000002" + zeros + String(zeros.dropLast(2)), error: flaw(.tooShort(missing: 1))),
        Bad(bytes: "0C07<I>0000", error: flaw(.tooShort(missing: 1))),
        Bad(bytes: "0D07<I>000002", error: flaw(.tooShort(missing: 16))),
        Bad(bytes: "1D07<I>000001" + zeros, error: flaw(.count(expected: 2, received: 1))),
        Bad(bytes: "1D07<I>000002" + zeros, error: flaw(.tooShort(missing: 16))),
        Bad(bytes: "2E07<I>000002" + zeros + zeros + "00", error: flaw(.trailingBytes(extra: 1))),
        Bad(bytes: "0C07<I>01A8", error: .status(StatusFlags(0x01, 0xA8))),
        Bad(bytes: "0C07<I>FFFF", error: .status(StatusFlags(0xFF, 0xFF))),
        Bad(bytes: "0C07<I>FFA1", error: .status(StatusFlags(0xFF, 0xA1))),
        Bad(bytes: "0C07<I>00A8", error: .status(StatusFlags(0x00, 0xA8))),
        Bad(bytes: "0B07<I>01", error: flaw(.tooShort(missing: 1))),
        Bad(bytes: "0A07<I>", error: flaw(.tooShort(missing: 1))),
        Bad(bytes: "0907010203040506 07", error: flaw(.tooShort(missing: 1))),
        Bad(bytes: "0107", error: flaw(.length(declared: 1, received: 2))),
        Bad(bytes: "01", error: flaw(.tooShort(missing: 1))),
        Bad(bytes: "00", error: flaw(.length(declared: 0, received: 1))),
        Bad(bytes: "0C09<I>01A8", error: flaw(.responseCode(0x09))),
        Bad(bytes: "0C070102030405060709 01A8", error: flaw(.idm(IDm(rawValue: 0x0102_0304_0506_0709)))),
    ]

    static func flaw(_ flaw: FeliCaError.Reason) -> FeliCaError { .malformed(.readWithoutEncryption, flaw) }

    @Test(arguments: bad) func rejectsABadAnswer(_ vector: Bad) throws {
        let command = ReadWithoutEncryption(services: [Self.service], blocks: BlockList(numbers: 0...1))
        #expect(try refusal(of: command, vector.bytes) == vector.error)
    }

    struct Illegal: Sendable {
        let services: Int
        let blocks: BlockList
        let flaw: FeliCaError.ArgumentReason
    }

    static let illegal: [Illegal] = [
        Illegal(services: 0, blocks: [.init(number: 0)], flaw: .count(.services, 0, allowed: 1...16)),
        Illegal(services: 17, blocks: [.init(number: 0)], flaw: .count(.services, 17, allowed: 1...16)),
        Illegal(services: 1, blocks: [], flaw: .count(.blocks, 0, allowed: 1...15)),
        Illegal(services: 1, blocks: BlockList(numbers: 0..<16), flaw: .count(.blocks, 16, allowed: 1...15)),
        Illegal(
            services: 1, blocks: [.init(number: 0), .init(serviceIndex: 1, number: 0)],
            flaw: .serviceIndex(1, element: 1)),
        Illegal(services: 2, blocks: [.init(serviceIndex: -1, number: 0)], flaw: .serviceIndex(-1, element: 0)),
    ]

    @Test(arguments: illegal) func rejectsIllegalArgumentsBeforeSending(_ vector: Illegal) {
        let channel = RecordingChannel([])
        let system = FeliCaSystem(channel: channel, idm: testIDm, pmm: PMm(rawValue: 0))
        let services = [ServiceCode](repeating: Self.service, count: vector.services)
        #expect(throws: FeliCaError.invalidArgument(vector.flaw)) {
            try system.readWithoutEncryption(services: services, blocks: vector.blocks)
        }
        #expect(channel.sent.isEmpty)
    }

    @Test func largestReadFitsIntoLEN() throws {
        let services = (0..<16).map { ServiceCode(rawValue: UInt16($0) << 6 | 0x0B) }
        let blocks = BlockList((0..<15).map { BlockListElement(serviceIndex: $0, number: 0xFFFF) })
        let packet = try ReadWithoutEncryption(services: services, blocks: blocks).packet(for: testIDm)
        #expect(packet.count == 12 + 32 + 45)
        #expect(packet.first == 89)
        let fifteen = ReadWithoutEncryption(services: [Self.service], blocks: BlockList(numbers: 0..<15))
        let body = String(repeating: Self.zeros, count: 15)
        #expect(try answer(to: fifteen, "FD07<I>00000F\(body)").count == 15)
    }
}
