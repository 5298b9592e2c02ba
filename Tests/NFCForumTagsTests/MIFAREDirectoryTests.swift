// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import NFCForumTags
import TestSupport
import Testing

@Suite("Application directories of MIFARE Classic")
struct MIFAREDirectoryTests {
    /// Bytes with their checksum in front.
    static func part(_ info: UInt8, _ applications: [UInt8]) -> [UInt8] {
        [MIFAREApplicationDirectory.checksum([info] + applications), info] + applications
    }

    static let ndef: [UInt8] = [0x03, 0xE1]
    /// NDEF in each of fifteen sectors.
    static let everySector = Array(repeating: ndef, count: 15).flatMap(\.self)

    @Test("PT14: sector 1 for the publisher, NDEF in all fifteen")
    func ndefInAll() throws {
        let blocks: [UInt8] = [0x14, 0x01] + Self.everySector
        let directory = try MIFAREApplicationDirectory(first: blocks)
        #expect(directory.version == 1 && directory.publisherSector == 1)
        #expect(directory.sectors(of: .ndef) == Array(1...15))
        #expect(directory.sectors(of: .free) == [])
    }

    /// The example of NXP AN10787, which libfreefare's tests compute, too: info 01 and these AIDs make CRC 89.
    @Test("The example of the application note")
    func applicationNote() throws {
        let applications = try Hex.decode(
            "0108 0108 0108 0000 0000 0000 0400 0310 0310 0210 0210 0000 0000 0000 1130")
        let directory = try MIFAREApplicationDirectory(first: [0x89, 0x01] + applications)
        #expect(directory.sectors(of: MIFAREApplicationID(applicationCode: 0x01, functionCluster: 0x08)) == [1, 2, 3])
        #expect(directory.sectors(of: .holder) == [7])
        #expect(directory.entries.last?.application.functionCluster == 0x30)
    }

    @Test("A second part goes on with sector 17")
    func second() throws {
        let first = Self.part(0, Array(repeating: 0, count: 30))
        let second = Self.part(0x11, Array(repeating: 0, count: 44) + Self.ndef)
        let directory = try MIFAREApplicationDirectory(first: first, second: second)
        #expect(directory.version == 2 && directory.publisherSector == 0x11)
        #expect(directory.entries.map(\.sector) == Array(1...15) + Array(17...39))
        #expect(directory.sectors(of: .ndef) == [39])
    }

    @Test("Each wrong bit is found, and each wrong length")
    func wrong() throws {
        let good = Self.part(1, Self.everySector)
        for bit in 0..<256 {
            var bad = good
            bad[bit / 8] ^= 1 << (bit % 8)
            let computed = MIFAREApplicationDirectory.checksum(bad.dropFirst())
            #expect(throws: MIFAREDirectoryError.checksum(part: 1, stored: bad[0], computed: computed)) {
                try MIFAREApplicationDirectory(first: bad)
            }
        }
        for count in [0, 1, 2, 31, 33, 48] {
            #expect(throws: MIFAREDirectoryError.length(part: 1, expected: 32, given: count)) {
                try MIFAREApplicationDirectory(first: [UInt8](repeating: 0, count: count))
            }
            guard count != 48 else { continue }
            #expect(throws: MIFAREDirectoryError.length(part: 2, expected: 48, given: count)) {
                try MIFAREApplicationDirectory(first: good, second: [UInt8](repeating: 0, count: count))
            }
        }
        #expect(throws: MIFAREDirectoryError.checksum(part: 2, stored: 0, computed: 0x16)) {
            try MIFAREApplicationDirectory(first: good, second: [UInt8](repeating: 0, count: 48))
        }
    }
}
