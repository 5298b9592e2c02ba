// SPDX-License-Identifier: Apache-2.0

/// The Capability Container of a Type 2 Tag, page 3: `E1`, version (two nibbles), size of the data area in units of eight
/// bytes, access (two nibbles: read, write; 0 granted, F none). Source: NFC Forum Type 2 Tag 1.0, §6.1.
public struct Type2Capability: Hashable, Sendable {
    /// The version of the mapping; 1.0 and 1.1 are known.
    public let version: (major: UInt8, minor: UInt8)
    /// The bytes of the data area, which begins with page 4.
    public let dataSize: Int
    /// What must be done to read: 0 nothing, F nobody may; others are proprietary.
    public let readAccess: UInt8
    /// What must be done to write: 0 nothing, F nobody may; others are proprietary.
    public let writeAccess: UInt8

    /// Takes the four bytes of page 3; `nil` when they do not begin with E1.
    public init?(_ page: [UInt8]) {
        guard page.count == 4, page[0] == 0xE1 else { return nil }
        version = (page[1] >> 4, page[1] & 0x0F)
        dataSize = Int(page[2]) * 8
        readAccess = page[3] >> 4
        writeAccess = page[3] & 0x0F
    }

    /// Whether this mapping can be read: any version 1.
    public var isSupported: Bool { version.major == 1 }

    /// The access that is granted to who is authenticated, among the proprietary ones.
    public static let accessWithKey: UInt8 = 0x8

    /// The address of the first byte of the data area.
    public static let dataStart = 16

    /// The addresses of the data area.
    public var dataArea: Range<Int> { Type2Capability.dataStart..<Type2Capability.dataStart + dataSize }

    /// Same version, size and access.
    public static func == (left: Type2Capability, right: Type2Capability) -> Bool {
        left.version == right.version && left.dataSize == right.dataSize && left.readAccess == right.readAccess
            && left.writeAccess == right.writeAccess
    }

    /// Feeds version, size and access.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(version.major)
        hasher.combine(version.minor)
        hasher.combine(dataSize)
        hasher.combine(readAccess)
        hasher.combine(writeAccess)
    }
}
