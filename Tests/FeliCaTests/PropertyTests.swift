// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import FeliCa
import TestSupport
import Testing

/// What holds for every command and any bytes at all.
@Suite struct PropertyTests {
    @Test(arguments: AnyCommand.all) func acceptsTheUndamagedAnswer(_ command: AnyCommand) throws {
        let bytes = try packet(command.answer)
        #expect(bytes.first.map(Int.init) == bytes.count)
        #expect(throws: Never.self) { try command.accepts(bytes).get() }
    }

    /// Each answer has one length only, but for Polling (with or without request data) and Search Service Code (area or
    /// service): a byte less or more is refused, whatever LEN says.
    @Test(arguments: AnyCommand.all) func rejectsEveryOtherLength(_ command: AnyCommand) throws {
        let good = try packet(command.answer)
        for length in 0...good.count + 5 where length != good.count {
            var bytes = good.prefix(length) + [UInt8](repeating: 0, count: max(0, length - good.count))
            #expect(isMalformed(command.accepts(Array(bytes)), command), "length \(length), LEN as it was")
            guard let declared = UInt8(exactly: length), length > 0 else { continue }
            bytes[bytes.startIndex] = declared
            if command.code == .polling, length == 18 { continue }
            if command.code == .searchServiceCode, length == 12 || length == 14 { continue }
            #expect(isMalformed(command.accepts(Array(bytes)), command), "length \(length)")
        }
    }

    /// A flipped bit in LEN, response code or IDm is always noticed.
    @Test(arguments: AnyCommand.all) func detectsEveryFlippedBitOfTheHeader(_ command: AnyCommand) throws {
        let good = try packet(command.answer)
        let head = command.carriesIDm ? 10 : command.code.bytes.count + 1
        for bit in 0..<head * 8 {
            var bytes = good
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(isMalformed(command.accepts(bytes), command), "bit \(bit)")
        }
    }

    /// Random bytes behind a correct head: a value or an error, never a trap or an argument or transport error.
    @Test(arguments: AnyCommand.all) func anyBodyGivesAValueOrAnError(_ command: AnyCommand) {
        var generator = SeededGenerator(seed: UInt64(command.code.rawValue) &* 31 &+ 7)
        let head = command.code.response.bytes + (command.carriesIDm ? testIDm.bytes : [])
        var wrong: [[UInt8]] = []
        for round in TestEffort.rounds(500) {
            let body = generator.bytes(Int.random(in: 0...254 - head.count, using: &generator))
            // Half of the rounds claim success, or few parsers would be reached beyond the Status Flags.
            let flags: [UInt8] = round % 2 == 0 ? [] : [0, 0]
            let rest = Array((flags + body).prefix(254 - head.count))
            let frame = [UInt8(truncatingIfNeeded: 1 + head.count + rest.count)] + head + rest
            if !isValueOrCardError(command.accepts(frame)) { wrong.append(frame) }
        }
        #expect(wrong.isEmpty)
    }

    /// Random bytes altogether.
    @Test(arguments: AnyCommand.all) func anyFrameGivesAValueOrAnError(_ command: AnyCommand) {
        var generator = SeededGenerator(seed: UInt64(command.code.rawValue) &+ 1)
        var wrong: [[UInt8]] = []
        for _ in 0..<1000 {
            let frame = generator.bytes(Int.random(in: 0...300, using: &generator))
            if !isValueOrCardError(command.accepts(frame)) { wrong.append(frame) }
        }
        #expect(wrong.isEmpty)
    }

    @Test func readBlocksGoRound() throws {
        var generator = SeededGenerator(seed: 2)
        for count in 1...15 {
            let blocks = try (0..<count).map { _ in try #require(Block(generator.bytes(16))) }
            let command = ReadWithoutEncryption(
                services: AnyCommand.services, blocks: BlockList(numbers: 0..<UInt16(count)))
            var frame = ByteWriter([UInt8(13 + 16 * count), 0x07])
            frame.write(testIDm.rawValue, .big)
            frame.write([0, 0, UInt8(count)])
            for block in blocks { frame.write(block.bytes) }
            #expect(try command.response(from: frame.bytes, idm: testIDm) == blocks)
        }
    }

    @Test func keyVersionsGoRound() throws {
        var generator = SeededGenerator(seed: 3)
        for count in 1...32 {
            let versions = (0..<count).map { _ in UInt16.random(in: 0...0xFFFF, using: &generator) }
            let command = RequestService(versions.map(NodeCode.init(rawValue:)))
            var frame = ByteWriter([UInt8(11 + 2 * count), 0x03])
            frame.write(testIDm.rawValue, .big)
            frame.write(UInt8(count))
            for version in versions { frame.write(version, .little) }
            let read = try command.response(from: frame.bytes, idm: testIDm)
            #expect(read == versions.map { $0 == 0xFFFF ? nil : KeyVersion(rawValue: $0) })
            // The request carries the same codes in the same place as the answer carries the versions.
            #expect(try command.packet(for: testIDm).dropFirst(10) == frame.bytes.dropFirst(10))
        }
    }

    /// Decodes elements by hand as the manual describes them and compares.
    @Test func blockListElementsGoRound() throws {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<2000 {
            let number = UInt16.random(in: 0...0xFFFF, using: &generator) >> UInt16.random(in: 0...9, using: &generator)
            let service = Int.random(in: 0...15, using: &generator)
            let mode = try #require(AccessMode(rawValue: UInt8.random(in: 0...7, using: &generator)))
            let bytes = BlockListElement(serviceIndex: service, number: number, accessMode: mode).bytes
            let head = try #require(bytes.first)
            #expect(Int(head & 0x0F) == service)
            #expect(head >> 4 & 7 == mode.rawValue)
            #expect(bytes.count == (head & 0x80 != 0 ? 2 : 3))
            #expect(bytes.dropFirst().reversed().reduce(0) { $0 << 8 | UInt16($1) } == number)
        }
    }

    private func isMalformed(_ result: Result<Void, FeliCaError>, _ command: AnyCommand) -> Bool {
        guard case .failure(.malformed(let code, _)) = result else { return false }
        return code == command.code
    }

    private func isValueOrCardError(_ result: Result<Void, FeliCaError>) -> Bool {
        switch result {
        case .success, .failure(.malformed), .failure(.status): true
        default: false
        }
    }
}
