// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import TestSupport
import Testing

@testable import PCSCReader

/// Commands of Type 2 Tags in the words of PC/SC.
@Suite(.waits)
struct StorageCommandTests {
    @Test func describesReadAndWrite() {
        #expect(StorageCommand([0x30, 0x04])?.apdu == [0xFF, 0xB0, 0x00, 0x04, 0x10])
        #expect(StorageCommand([0xA2, 0x05, 1, 2, 3, 4])?.apdu == [0xFF, 0xD6, 0x00, 0x05, 0x04, 1, 2, 3, 4])
    }

    @Test(arguments: [[0x60], [0x30], [0x30, 1, 2], [0xA2, 5, 1, 2, 3], [0x1B, 1, 2, 3, 4], []] as [[UInt8]])
    func ignoresOtherCommands(_ frame: [UInt8]) {
        #expect(StorageCommand(frame) == nil)
    }

    static let answers: [(StorageCommand, [UInt8], Result<[UInt8], TransportError>)] = [
        (.read(page: 4), Array(0..<16) + [0x90, 0x00], .success(Array(0..<16))),
        (.read(page: 4), Array(0..<4) + [0x90, 0x00], .failure(.corrupted(status: 0))),
        (.read(page: 4), [0x63, 0x00], .failure(.noAnswer)), (.read(page: 4), [0x6A, 0x82], .success([0x00])),
        (.write(page: 4, data: [1, 2, 3, 4]), [0x90, 0x00], .success([0x0A])),
        (.write(page: 4, data: [1, 2, 3, 4]), [0x69, 0x86], .success([0x00])),
        (.write(page: 4, data: [1, 2, 3, 4]), [0x90], .failure(.corrupted(status: 0))),
    ]

    @Test(arguments: answers) func answer(
        _ command: StorageCommand, _ reply: [UInt8], _ expected: Result<[UInt8], TransportError>
    ) {
        let result = Result { () throws(TransportError) in try command.answer(in: reply) }
        #expect(result == expected)
    }
}
