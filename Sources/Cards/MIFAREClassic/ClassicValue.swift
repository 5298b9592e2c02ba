// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// A value block: a number three times, the second time inverted, and an address four times.
///
/// `v ~v v a ~a a ~a`; the number is signed, 32 bits, least significant byte first. Source: MF1S50YYX data sheet §8.6.2.1.
public struct ClassicValue: Hashable, Sendable {
    /// The number.
    public let value: Int32
    /// The address, which cards only store: by convention the number of the block, or of its backup.
    public let address: UInt8

    /// Makes a value.
    public init(_ value: Int32, address: UInt8) {
        (self.value, self.address) = (value, address)
    }

    /// Decodes a block; `nil` if its copies do not agree.
    public init?(_ block: [UInt8]) {
        guard block.count == 16 else { return nil }
        let (first, second, third) = (block[0..<4], block[4..<8], block[8..<12])
        guard first.elementsEqual(third), first.elementsEqual(second.map { ~$0 }), block[12] == block[14],
            block[13] == block[15], block[12] == ~block[13]
        else { return nil }
        value = Int32(bitPattern: first.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
        address = block[12]
    }

    /// The sixteen bytes.
    public var block: [UInt8] {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: UInt32(bitPattern: value) >> UInt32(8 * $0)) }
        return bytes + bytes.map { ~$0 } + bytes + [address, ~address, address, ~address]
    }
}

/// The application directory of a MIFARE Classic (MAD): which sectors belong to which application.
///
/// Sector 0 blocks 1 and 2, of a 4K also sector 16: a CRC (polynomial 1D, start C7) over what follows it, the publisher's
/// sector, and two bytes a sector, the application code first. Sources: NXP AN10787; libfreefare.
package struct ClassicDirectory: Hashable, Sendable {
    /// The applications by sector, as in E103 for NDEF; sectors that are free are 0000.
    package private(set) var applications: [Int: UInt16] = [:]
    /// Whether every CRC is right.
    package private(set) var isChecksumRight = true

    /// The application of NDEF sectors.
    package static let ndef: UInt16 = 0xE103

    /// Decodes the directory; `nil` if the trailer of sector 0 says that there is none, or not all of it is known.
    package init?(_ memory: ClassicDump) {
        guard let general = memory[3]?[9], general & 0x80 != 0, let first = memory.whole(1),
            let second = memory.whole(2)
        else { return nil }
        take(first + second, sectors: Array(1...15))
        guard general & 0x03 == 2, memory.kind == .k4 || memory.kind == .k2 else { return }
        let more = [64, 65, 66].compactMap { memory.whole($0) }
        guard more.count == 3 else { return }
        take(more.flatMap { $0 }, sectors: Array(17...39))
    }

    private mutating func take(_ bytes: [UInt8], sectors: [Int]) {
        if let checksum = bytes.first, Self.checksum(bytes.dropFirst()) != checksum { isChecksumRight = false }
        for (place, sector) in sectors.enumerated() where 2 * place + 3 < bytes.count {
            // Stored with the application code before the function cluster.
            applications[sector] = UInt16(bytes[2 * place + 3]) << 8 | UInt16(bytes[2 * place + 2])
        }
    }

    /// CRC-8 of the directory.
    package static func checksum(_ bytes: some Sequence<UInt8>) -> UInt8 {
        var crc: UInt8 = 0xC7
        for byte in bytes {
            crc ^= byte
            for _ in 0..<8 { crc = crc & 0x80 == 0 ? crc << 1 : crc << 1 ^ 0x1D }
        }
        return crc
    }

    /// The sectors of the NDEF application, ascending.
    package var ndefSectors: [Int] { applications.filter { $0.value == Self.ndef }.keys.sorted() }

    /// The bytes of the NDEF message in a dump: the value of the first TLV block 03 in the data blocks of its sectors.
    ///
    /// - Returns: `nil` if there is none, or a block of it is not known.
    package func message(in memory: ClassicDump) -> [UInt8]? {
        var bytes: [UInt8] = []
        for sector in ndefSectors {
            for block in ClassicKind.blocks(of: sector).dropLast() {
                guard let content = memory.whole(block) else { return Self.message(in: bytes) }
                bytes += content
            }
        }
        return Self.message(in: bytes)
    }

    private static func message(in bytes: [UInt8]) -> [UInt8]? {
        var place = 0
        while place < bytes.count {
            let tag = bytes[place]
            place += 1
            if tag == 0x00 { continue }
            if tag == 0xFE { return nil }
            guard place < bytes.count else { return nil }
            var length = Int(bytes[place])
            place += 1
            if length == 0xFF {
                guard place + 1 < bytes.count else { return nil }
                length = Int(bytes[place]) << 8 | Int(bytes[place + 1])
                place += 2
            }
            guard length <= bytes.count - place else { return nil }
            if tag == 0x03 { return Array(bytes[place..<place + length]) }
            place += length
        }
        return nil
    }
}
