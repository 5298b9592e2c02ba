// SPDX-License-Identifier: Apache-2.0

import ByteCodec
@testable import VirtualCards
@testable import VirtualChips
@testable import VirtualReader

/// A chip on a ``VirtualLine``, told what to do in hexadecimal and read by hand.
struct ChipBench {
    let field: PlainField
    let line: VirtualLine
    let counters = ChipCounters()

    /// Runs a chip until the host has nothing left to say.
    init(
        _ script: [HostBytes], field: PlainField = PlainField(), timing: TimeModel = .off,
        faults: InjectedSerialFaults = .none
    ) {
        self.field = field
        line = VirtualLine(script)
        PN532Chip(field: field, line: line, timing: timing, faults: faults, counters: counters).run()
    }

    /// Runs a chip through commands, each after the answer to the one before.
    init(
        commands: [String], field: PlainField = PlainField(), timing: TimeModel = .off,
        faults: InjectedSerialFaults = .none
    ) throws {
        self.init(
            try commands.map { try HostBytes(command: $0) }, field: field, timing: timing, faults: faults)
    }

    /// A host frame around a command in hexadecimal, which starts with D4.
    static func frame(_ command: String) throws -> [UInt8] {
        let data = try Hex.decode(command)
        let check = 0 &- data.reduce(0, &+)
        let (high, low) = (UInt8(data.count >> 8), UInt8(data.count & 0xFF))
        let head: [UInt8] = high == 0 ? [low, 0 &- low] : [0xFF, 0xFF, high, low, 0 &- (high &+ low)]
        return [0x00, 0x00, 0xFF] + head + data + [check, 0x00]
    }

    static let ack = "0000ff00ff00"
    static let nack = "0000ffff0000"
    static let error = "0000ff01ff7f8100"

    /// Everything that the chip sent, one entry for each write.
    var sent: [String] { line.sent.map { Hex.encode($0.bytes) } }

    /// What the answers carry, D5 first; other frames are unchanged.
    var answers: [String] { line.sent.map(\.bytes).filter { Hex.encode($0) != Self.ack }.map(Self.content) }

    static func content(_ frame: [UInt8]) -> String {
        let isExtended = frame.count > 8 && frame[3] == 0xFF && frame[4] == 0xFF
        let data = frame.dropFirst(isExtended ? 8 : 5).dropLast(2)
        let text = Hex.encode(data)
        guard data.first == 0xD5, (try? Self.frame(text)) == frame else { return Hex.encode(frame) }
        return text
    }
}
