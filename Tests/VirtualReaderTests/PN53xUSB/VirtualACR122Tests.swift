// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import SimulatedChips
import TestSupport
import Testing

@testable import VirtualCards
@testable import VirtualChips
@testable import VirtualReader

/// An ACR122U's answers against bytes that the traces in libnfc's issues 263, 666, 691 and 476 show.
struct VirtualACR122Tests {
    struct Case: CustomTestStringConvertible {
        let name: String
        let request: String
        let answer: String
        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(name: "power on", request: "62000000000000000000", answer: "800200000000000081003B00"),
        Case(
            name: "reader's name", request: "6F050000000000000000FF00480000",
            answer: "800A000000000000810041435231323255323033"),
        Case(
            name: "no card of type A", request: "6F090000000000000000FF00000004D44A0100",
            answer: "80050000000000008100D54B009000"),
        Case(
            name: "silent card", request: "6F080000000000000000FF00000003D44200",
            answer: "80050000000000008100D543019000"),
        Case(
            name: "chip's version", request: "6F070000000007000000FF00000002D402",
            answer: "80080000000007008100D503320106079000"),
        Case(
            name: "no command of the chip's", request: "6F070000000000000000FF00000002D4FF",
            answer: "80020000000000008100637F"),
        Case(
            name: "no command of the reader's", request: "6F050000000000000000FFCA000000",
            answer: "800200000000000081006300"),
        // As Linux's pn533_usb asks it (`drivers/nfc/pn533/usb.c`), and as pcscd does.
        Case(
            name: "chip's version as an escape", request: "6B070000000007000000FF00000002D402",
            answer: "83080000000007008100D503320106079000"),
        Case(name: "state of the slot", request: "65000000000009000000", answer: "81000000000009020000"),
        Case(name: "power off", request: "63000000000009000000", answer: "81000000000009020000"),
        Case(
            name: "parameters", request: "6C000000000009000000", answer: "820700000000090000011110004D002000"),
    ]

    /// One try at a card; without it the chip looks forever.
    static let oneTry = "6F0B0000000000000000FF00000006D43205000000"

    @Test(arguments: cases)
    func answers(_ one: Case) throws {
        let reader = VirtualACR122(field: VirtualField())
        reader.receive(try Hex.decode(Self.oneTry))
        _ = reader.nextTransfer()
        reader.receive(try Hex.decode(one.request))
        #expect(try reader.nextTransfer() == Hex.decode(one.answer))
        #expect(reader.nextTransfer() == nil)
        #expect(reader.statistics.complaints.isEmpty)
    }

    @Test("An endless search ends as a silent card")
    func endless() throws {
        let reader = VirtualACR122(field: VirtualField())
        reader.receive(try Hex.decode("6F090000000000000000FF00000004D44A0100"))
        #expect(try reader.nextTransfer() == Hex.decode("8000000000000000FE00"))
    }

    @Test("A reset on the USB port drops what nobody fetched")
    func reset() throws {
        let reader = VirtualACR122(field: VirtualField())
        reader.receive(try Hex.decode("6F070000000007000000FF00000002D402"))
        reader.reset()
        #expect(reader.nextTransfer() == nil)
    }

    @Test("Any input is answered once or reported", arguments: 0..<200 as Range<UInt64>)
    func anything(_ seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        let count = Int.random(in: 1...200, using: &generator)
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let command = [0xFF, 0x00, 0x00, 0x00, UInt8(count + 1), 0xD4] + bytes
        let message = [0x6F, UInt8(command.count), 0, 0, 0, 0, 0, 0, 0, 0] + command
        let reader = VirtualACR122(field: VirtualField())
        for transfer in [bytes, [0x6F] + bytes, message] {
            let before = reader.statistics
            reader.receive(transfer)
            let isAnswered = reader.nextTransfer() != nil
            #expect(reader.nextTransfer() == nil)
            #expect(isAnswered == (reader.statistics.hostCommands == before.hostCommands + 1))
            #expect(isAnswered == (reader.statistics.complaints.count == before.complaints.count))
        }
        #expect(reader.statistics.hostCommands > 0)
    }

    @Test func unplugged() throws {
        let reader = VirtualACR122(field: VirtualField(), faults: InjectedUSBFaults(unplugBeforeTransfer: 2))
        reader.receive(try Hex.decode("62000000000000000000"))
        #expect(!reader.isUnplugged)
        #expect(reader.nextTransfer() == nil)
        #expect(reader.isUnplugged)
    }
}
