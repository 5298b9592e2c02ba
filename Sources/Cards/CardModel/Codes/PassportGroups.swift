// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// Which data groups a passport names, before anything is verified (ICAO Doc 9303-10 §4.6).
package enum PassportGroups {
    /// The tags of the data groups 1 to 16.
    package static let tags: [UInt8] = [
        0x61, 0x75, 0x63, 0x76, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6A, 0x6B, 0x6C, 0x6D, 0x6E, 0x6F, 0x70,
    ]

    /// The groups of EF.COM's list of tags, in its order; `nil` if it has none.
    package static func named(byIndex file: [UInt8]) -> Set<Int>? {
        guard let list = BERTLVList(tolerant: file)[0x60]?[0x5C]?.value else { return nil }
        return Set(list.compactMap { tag in tags.firstIndex(of: tag).map { $0 + 1 } })
    }

    /// The groups of the list of digests in EF.SOD, as far as it is in DER; `nil` if it is not found.
    package static func named(bySecurity file: [UInt8]) -> Set<Int>? {
        let content = BERTLVList(tolerant: file)[0x77]?[0x30]?[0xA0]?[0x30]?[0x30]?[0xA0]?[0x04]?.value
        let parts = content.flatMap { BERTLVList(tolerant: $0)[0x30]?.children } ?? []
        guard parts.count >= 3, let list = parts[2].children else { return nil }
        return Set(list.compactMap { $0[0x02]?.value.last.map(Int.init) })
    }
}
