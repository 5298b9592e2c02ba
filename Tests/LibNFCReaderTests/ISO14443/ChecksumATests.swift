// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LibNFCReader

/// CRC_A, which the host checks for Type 2 Tags.
struct ChecksumATests {
    /// Vector PT10.
    @Test(arguments: [([0x30, 0x00], [0x02, 0xA8]), ([0xE0, 0x80], [0x31, 0x73])] as [([UInt8], [UInt8])])
    func isAsTheVectorsSay(_ frame: [UInt8], _ checksum: [UInt8]) {
        #expect(ChecksumA.bytes(of: frame) == checksum)
        #expect(ChecksumA.removed(from: frame + checksum) == frame)
    }

    @Test func anAcknowledgeOfFourBitsHasNone() {
        #expect(ChecksumA.removed(from: [0x0A]) == [0x0A])
        #expect(ChecksumA.removed(from: [0x00]) == [0x00])
    }

    static let damaged: [[UInt8]] = [
        [], [0x02, 0xA8], [0x30, 0x00, 0xA8, 0x02], [0x30, 0x01, 0x02, 0xA8], [0x63, 0x63],
    ]

    @Test(arguments: damaged) func whatIsDamagedIsNotPassedOn(_ frame: [UInt8]) {
        #expect(ChecksumA.removed(from: frame) == nil)
    }
}
