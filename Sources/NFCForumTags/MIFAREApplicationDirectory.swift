// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The application directory (MAD) of a MIFARE Classic: the use of each sector.
///
/// For programs built on this library that have read the blocks: the program `kazasu` does not read MIFARE Classic,
/// since that requires keys. Each part begins with a CRC-8 and an info byte; two bytes for each sector follow. Source:
/// NXP AN10787; libfreefare's `mad.c` agrees.
package struct MIFAREApplicationDirectory: Hashable, Sendable {
    /// The version: 1 for sectors 1 to 15, 2 for sectors 17 to 39, too.
    package let version: Int
    /// The sector of the card's publisher, from the info byte of the last part; 0 if none is named.
    package let publisherSector: UInt8
    /// The use of each sector, in order.
    package let entries: [Entry]

    /// One sector.
    package struct Entry: Hashable, Sendable {
        /// Its number, 1 to 15 and 17 to 39.
        package var sector: Int
        /// The application that uses it.
        package var application: MIFAREApplicationID
    }

    /// Reads the blocks of a directory.
    ///
    /// - Parameters:
    ///   - first: blocks 1 and 2 of sector 0, 32 bytes.
    ///   - second: blocks 0 to 2 of sector 16, 48 bytes; `nil` for a directory of version 1.
    /// - Throws: ``MIFAREDirectoryError``.
    package init(first: [UInt8], second: [UInt8]? = nil) throws(MIFAREDirectoryError) {
        let one = try Part(first, number: 1, length: 32, firstSector: 1)
        guard let second else {
            (version, publisherSector, entries) = (1, one.publisherSector, one.entries)
            return
        }
        let two = try Part(second, number: 2, length: 48, firstSector: 17)
        (version, publisherSector, entries) = (2, two.publisherSector, one.entries + two.entries)
    }

    /// Returns the sectors of an application, in order.
    package func sectors(of application: MIFAREApplicationID) -> [Int] {
        entries.filter { $0.application == application }.map(\.sector)
    }

    /// Returns the checksum of the bytes after it: polynomial 1D, initial value C7, most significant bit first.
    package static func checksum(_ bytes: some Sequence<UInt8>) -> UInt8 {
        bytes.reduce(0xC7) { sum, byte in
            (0..<8).reduce(sum ^ byte) { sum, _ in sum & 0x80 == 0 ? sum << 1 : sum << 1 ^ 0x1D }
        }
    }

    /// The contents of one part.
    private struct Part {
        let publisherSector: UInt8
        let entries: [Entry]

        init(_ bytes: [UInt8], number: Int, length: Int, firstSector: Int) throws(MIFAREDirectoryError) {
            guard bytes.count == length, let stored = bytes.first, let info = bytes.element(at: 1) else {
                throw .length(part: number, expected: length, given: bytes.count)
            }
            let computed = checksum(bytes.dropFirst())
            guard stored == computed else { throw .checksum(part: number, stored: stored, computed: computed) }
            publisherSector = info & 0x3F
            entries = zip(firstSector..., stride(from: 2, to: bytes.count - 1, by: 2)).map { sector, place in
                let id = MIFAREApplicationID(applicationCode: bytes[place], functionCluster: bytes[place + 1])
                return Entry(sector: sector, application: id)
            }
        }
    }
}

/// The use of a MIFARE Classic sector, two bytes of its application directory.
///
/// Source: NXP AN10787; the administration codes have the names in its table 4.
package struct MIFAREApplicationID: Hashable, Sendable {
    /// The first byte: the application within the cluster.
    package var applicationCode: UInt8
    /// The second byte: the line of business; 00 is for administration.
    package var functionCluster: UInt8

    /// Makes an application from its two codes.
    package init(applicationCode: UInt8, functionCluster: UInt8) {
        self.applicationCode = applicationCode
        self.functionCluster = functionCluster
    }

    /// The sector is free.
    package static let free = MIFAREApplicationID(applicationCode: 0x00, functionCluster: 0x00)
    /// The sector is defective.
    package static let defect = MIFAREApplicationID(applicationCode: 0x01, functionCluster: 0x00)
    /// The sector is reserved.
    package static let reserved = MIFAREApplicationID(applicationCode: 0x02, functionCluster: 0x00)
    /// The sector continues the directory.
    package static let directory = MIFAREApplicationID(applicationCode: 0x03, functionCluster: 0x00)
    /// The sector identifies the holder of the card.
    package static let holder = MIFAREApplicationID(applicationCode: 0x04, functionCluster: 0x00)
    /// The card has no such sector.
    package static let absent = MIFAREApplicationID(applicationCode: 0x05, functionCluster: 0x00)
    /// The sector contains NDEF: bytes `03 E1` (NXP AN1304).
    package static let ndef = MIFAREApplicationID(applicationCode: 0x03, functionCluster: 0xE1)
}

/// Why bytes are not an application directory.
@nonexhaustive
package enum MIFAREDirectoryError: Error, Hashable, Sendable {
    /// The blocks of this part (1 or 2) have the wrong number of bytes.
    case length(part: Int, expected: Int, given: Int)
    /// The checksum of this part (1 or 2) does not match its bytes.
    case checksum(part: Int, stored: UInt8, computed: UInt8)
}
