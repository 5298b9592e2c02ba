// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@testable import PCSCReader

/// FeliCa commands as pseudo-APDUs of their own, as the manuals of Identiv have them.
struct ServiceCommandTests {
    /// A reader written by hand from the manuals, which takes the bytes of service codes in one order.
    private final class Reader {
        let field: VirtualField
        private let reader: InProcessReader
        private let isSwapped: Bool
        private(set) var commands: [[UInt8]] = []

        init(isSwapped: Bool) throws {
            let text = """
                {"schema": "kazasu.card/1", "idm": "0101031234567890", "pmm": "0120220427674eff",
                 "systems": [{"code": "0003", "blocks": {"090F": ["00112233445566778899aabbccddeeff"], "0009": ["\(String(repeating: "00", count: 16))"]}}]}
                """
            field = VirtualField(cards: [try VirtualCardFile.load(Array(text.utf8))])
            reader = InProcessReader(field)
            self.isSwapped = isSwapped
            _ = try reader.activate(.felica(SystemCode(rawValue: 0xFFFF)))
        }

        private func codes(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            guard isSwapped else { return Array(bytes) }
            return stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).flatMap { [bytes[$0 + 1], bytes[$0]] }
        }

        func answer(_ command: [UInt8]) throws(TransportError) -> [UInt8] {
            commands.append(command)
            guard command.count >= 5, command[0] == 0xFF else { return [0x6D, 0x00] }
            let idm: [UInt8] = [0x01, 0x01, 0x03, 0x12, 0x34, 0x56, 0x78, 0x90]
            let data = command[5...]
            let body: [UInt8]
            switch command[1] {
            case 0x40: body = [0x00] + data
            case 0x42: body = [0x02] + idm + [command[2]] + codes(data)
            case 0x44: body = [0x04] + idm
            case 0x4A: body = [0x0C] + idm
            case 0x46, 0x48:
                let services = Int(command[2])
                body =
                    [command[1] == 0x46 ? 0x06 : 0x08] + idm + [command[2]] + codes(data.prefix(2 * services))
                    + [command[3]] + data.dropFirst(2 * services)
            default: return [0x6D, 0x00]
            }
            do {
                let frame = try reader.transceive([UInt8(body.count + 1)] + body, timeout: .milliseconds(100))
                return Array(frame.dropFirst(2)) + [0x90, 0x00]
            } catch .noAnswer {
                return [0x64, 0x01]
            }
        }
    }

    private static let idm: [UInt8] = [0x01, 0x01, 0x03, 0x12, 0x34, 0x56, 0x78, 0x90]

    private static func packet(_ body: [UInt8]) -> [UInt8] { [UInt8(body.count + 1)] + body }

    private static let read = packet([0x06] + idm + [0x01, 0x0F, 0x09, 0x01, 0x80, 0x00])

    @Test("F3: commands, byte for byte", arguments: [false, true])
    func commands(isSwapped: Bool) throws {
        let reader = try Reader(isSwapped: isSwapped)
        var commands = ServiceCommands()
        func ask(_ packet: [UInt8]) throws -> [UInt8] {
            try commands.transceive(packet) { command throws(TransportError) in try reader.answer(command) }
        }
        let found = try ask([0x06, 0x00, 0xFF, 0xFF, 0x01, 0x00])
        #expect(found == [0x14, 0x01] + Self.idm + [0x01, 0x20, 0x22, 0x04, 0x27, 0x67, 0x4E, 0xFF, 0x00, 0x03])
        #expect(reader.commands.last == [0xFF, 0x40, 0x00, 0x00, 0x04, 0xFF, 0xFF, 0x01, 0x00])
        #expect(try ask(Self.packet([0x0C] + Self.idm)) == [0x0D, 0x0D] + Self.idm + [0x01, 0x00, 0x03])
        #expect(reader.commands.last == [0xFF, 0x4A, 0x00, 0x00, 0x00])
        #expect(try ask(Self.packet([0x04] + Self.idm)) == [0x0B, 0x05] + Self.idm + [0x00])
        // Before the order is known nothing is written.
        let write = Self.packet([0x08] + Self.idm + [0x01, 0x09, 0x00, 0x01, 0x80, 0x00] + [UInt8](1...16))
        #expect(throws: TransportError.unsupported(detail: .init(.noFeliCaCommand, "08"))) { try ask(write) }
        // The read settles the order of the bytes.
        let block = try ask(Self.read)
        let head: [UInt8] = [0x1D, 0x07] + Self.idm + [0x00, 0x00, 0x01]
        #expect(Array(block.prefix(13)) == head)
        #expect(block.suffix(2) == [0xEE, 0xFF])
        let codes: [UInt8] = isSwapped ? [0x09, 0x0F] : [0x0F, 0x09]
        #expect(reader.commands.last == [0xFF, 0x46, 0x01, 0x01, 0x04] + codes + [0x80, 0x00])
        let count = reader.commands.count
        #expect(try ask(Self.read) == block && reader.commands.count == count + 1)
        let service = try ask(Self.packet([0x02] + Self.idm + [0x01, 0x0F, 0x09]))
        #expect(service.dropFirst(11) != [0xFF, 0xFF] && service.count == 13)
        #expect(try ask(write).suffix(2) == [0x00, 0x00])
    }

    @Test("A node that is in no order is absent; one that is in the other is found", arguments: [false, true])
    func nodes(isSwapped: Bool) throws {
        let reader = try Reader(isSwapped: isSwapped)
        var commands = ServiceCommands()
        for (node, isThere) in [([0x0F, 0x09], true), ([0x4F, 0x10], false)] as [([UInt8], Bool)] {
            let answer = try commands.transceive(Self.packet([0x02] + Self.idm + [0x01] + node)) {
                command throws(TransportError) in try reader.answer(command)
            }
            #expect((answer.suffix(2) != [0xFF, 0xFF]) == isThere)
        }
        // A service that is not there is refused, and settles nothing.
        let none = Self.packet([0x06] + Self.idm + [0x01, 0x4F, 0x10, 0x01, 0x80, 0x00])
        let refused = try commands.transceive(none) { command throws(TransportError) in try reader.answer(command) }
        #expect(refused.count == 12 && refused[10] != 0 && refused[11] == 0xA6)
    }

    /// Commands without a pseudo-APDU, and packets that are none.
    static let others: [(packet: [UInt8], error: TransportError)] = [
        (packet([0x0A] + idm + [0x00, 0x00]), .unsupported(detail: .init(.noFeliCaCommand, "0A"))),
        (packet([0xF0, 0x00, 0x01]), .unsupported(detail: .init(.noFeliCaCommand, "F0"))),
        (
            packet([0x06] + idm + [0x01, 0x0F, 0x09, 0x01, 0x00, 0x00, 0x00]),
            .unsupported(detail: .init(.noFeliCaCommand, "06"))
        ),
        (packet([0x06] + idm + [0x01]), .unsupported(detail: .init(.noFeliCaCommand, "06"))),
        (packet([0x02] + idm + [0x09, 0x00]), .unsupported(detail: .init(.noFeliCaCommand, "02"))),
        ([0x09, 0x0A], .noAnswer), ([], .noAnswer), ([0x01], .noAnswer),
    ]

    @Test("Names a FeliCa command that the reader lacks, and sends nothing", arguments: others)
    func unsupported(_ row: (packet: [UInt8], error: TransportError)) {
        var commands = ServiceCommands()
        #expect(throws: row.error) {
            try commands.transceive(row.packet) { _ throws(TransportError) in
                Issue.record("sent")
                return []
            }
        }
    }

    @Test("Answers of a reader that are none")
    func answers() {
        let cases: [([UInt8], TransportError)] = [
            ([0x6D, 0x00], FrameWrapping.Content.felica.notPassed),
            ([0x6A, 0x81], FrameWrapping.Content.felica.notPassed),
            ([0x63, 0x00], .noAnswer), ([0x90, 0x00], .noAnswer), ([1, 2, 3, 0x90, 0x00], .corrupted(status: 0)),
            ([], .corrupted(status: 0)), ([UInt8](repeating: 1, count: 255) + [0x90, 0x00], .corrupted(status: 0)),
        ]
        for (answer, error) in cases {
            var commands = ServiceCommands()
            #expect(throws: error) { try commands.transceive(Self.read) { _ throws(TransportError) in answer } }
        }
    }

    @Test("Pass-through, with and without LEN in the answer, and the readers that it is tried on")
    func passThrough() throws {
        let polling: [UInt8] = [0x06, 0x00, 0xFF, 0xFF, 0x01, 0x00]
        #expect(FrameWrapping.passThrough.command(for: polling, .felica) == [0xFF, 0xFE, 0x00, 0x00, 0x06] + polling)
        let answer = [0x01] + Self.idm + [UInt8](repeating: 0xFF, count: 8)
        for form in [[0x12] + answer, answer] {
            #expect(try FrameWrapping.passThrough.frame(in: form + [0x90, 0x00], .felica) == [0x12] + answer)
        }
        for name in ["Identiv uTrust 3700 F CL Reader 00 00", "Identiv uTrust 3701 F Dual 01 00"] {
            #expect(FrameWrapping.ways(for: name, .felica) == [.passThrough, .services, .session])
        }
        #expect(FrameWrapping.ways(for: "Circle CIR315 CL 00 00", .felica) == [.session, .plain])
        #expect(FrameWrapping.ways(for: "HID Global OMNIKEY 5022 00 00", .felica) == [.plain, .chip, .session])
    }
}
