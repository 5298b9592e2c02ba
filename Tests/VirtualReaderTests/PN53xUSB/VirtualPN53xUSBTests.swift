// SPDX-License-Identifier: Apache-2.0

import SimulatedChips
import Testing

@testable import VirtualCards
@testable import VirtualChips
@testable import VirtualReader

/// An RC-S330's answers against the frames of nfcpy's tests (`test_clf_rcs956.py`, `base_clf_pn53x.py`).
struct VirtualPN53xUSBTests {
    static let acknowledge: [UInt8] = [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]

    struct Case: CustomTestStringConvertible {
        let name: String
        let request: [UInt8]
        let answer: [UInt8]?
        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(name: "version", request: [0x02], answer: [0xD5, 0x03, 0x33, 0x01, 0x30, 0x07]),
        Case(name: "mode", request: [0x18, 0x01], answer: [0xD5, 0x19]),
        Case(
            name: "long line test", request: [0x00, 0x00] + Array(repeating: 0x5A, count: 259),
            answer: [0xD5, 0x01, 0x00] + Array(repeating: 0x5A, count: 259)),
        Case(name: "release", request: [0x52, 0x00, 0x01], answer: [0xD5, 0x53, 0x00, 0x00]),
        Case(name: "setting of Linux's driver", request: [0x32, 0x82, 0x08, 0x01, 0x08], answer: [0xD5, 0x33]),
        Case(name: "no SAM", request: [0x14, 0x01], answer: [0x7F]),
        Case(name: "no InAutoPoll", request: [0x60, 0x01, 0x01, 0x11], answer: [0x7F]),
        Case(name: "endless search", request: [0x4A, 0x01, 0x00], answer: nil),
    ]

    @Test(arguments: cases)
    func answers(_ one: Case) {
        let reader = VirtualPN53xUSB(field: VirtualField())
        reader.receive(PN532Frame.encode([0xD4] + one.request))
        #expect(reader.nextTransfer() == Self.acknowledge)
        #expect(reader.nextTransfer() == one.answer.map(PN532Frame.encode))
        #expect(reader.nextTransfer() == nil)
    }

    @Test("ACK aborts a command: its answer is not sent")
    func givenUp() {
        let reader = VirtualPN53xUSB(field: VirtualField())
        reader.receive(PN532Frame.encode([0xD4, 0x02]))
        reader.receive(Self.acknowledge)
        #expect(reader.nextTransfer() == nil)
        reader.receive(PN532Frame.encode([0xD4, 0x18, 0x01]))
        #expect(reader.nextTransfer() == Self.acknowledge)
        #expect(reader.nextTransfer() == PN532Frame.encode([0xD5, 0x19]))
        #expect(reader.statistics.complaints.isEmpty)
    }

    @Test("NACK and noise are reported; an empty transfer is not")
    func complaints() {
        let reader = VirtualPN53xUSB(field: VirtualField())
        reader.receive([])
        #expect(reader.statistics.complaints.isEmpty)
        reader.receive(PN532Frame.notAcknowledge)
        reader.receive([0x01, 0x02])
        #expect(reader.statistics.complaints.count == 2)
        #expect(reader.nextTransfer() == nil)
    }

    @Test("A damaged frame gets no answer, and the next command is served", arguments: 3..<9)
    func damaged(_ index: Int) {
        let reader = VirtualPN53xUSB(field: VirtualField())
        var frame = PN532Frame.encode([0xD4, 0x18, 0x01])
        frame[index] ^= 0x10
        reader.receive(frame)
        #expect(reader.nextTransfer() == nil)
        reader.receive(PN532Frame.encode([0xD4, 0x02]))
        #expect(reader.nextTransfer() == Self.acknowledge)
    }
}
