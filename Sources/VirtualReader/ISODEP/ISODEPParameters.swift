// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// What the two sides of ISO 14443-4 told each other of what they can do.
struct ISODEPParameters: Hashable, Sendable {
    /// The bytes of the longest frame that the card takes, with its CRC.
    var cardFrame: Int
    /// FWI.
    var waitingTimeIndex: UInt8 = 4
    /// Whether the card takes a CID.
    var supportsCID: Bool
    /// Whether the card takes a NAD.
    var supportsNAD = false

    /// What an ATQB says.
    init(_ identity: TypeBIdentity) {
        cardFrame = ISODEPSizes.frame(identity.frameSizeIndex)
        waitingTimeIndex = identity.waitingTimeIndex
        supportsCID = identity.supportsCID
        supportsNAD = identity.supportsNAD
    }

    /// What an ATS says; what it leaves out has the values of the standard.
    init(ats: [UInt8]) {
        cardFrame = ISODEPSizes.frame(2)
        supportsCID = true
        var reader = ByteReader(ats)
        _ = try? reader.readUInt8()
        guard let format = try? reader.readUInt8() else { return }
        cardFrame = ISODEPSizes.frame(format & 0x0F)
        if format & 0x10 != 0 { _ = try? reader.readUInt8() }
        if format & 0x20 != 0, let times = try? reader.readUInt8() { waitingTimeIndex = times >> 4 }
        guard format & 0x40 != 0, let flags = try? reader.readUInt8() else { return }
        supportsCID = flags & 0x02 != 0
        supportsNAD = flags & 0x01 != 0
    }
}
