// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// What a card of ISO 14443 type B tells while it is selected.
public struct TypeBIdentity: Hashable, Sendable {
    /// The PUPI, four bytes; `nil` for a card that chooses one anew whenever it gets power.
    public let pupi: [UInt8]?
    /// The application data of the ATQB, four bytes.
    public let applicationData: [UInt8]
    /// The protocol info of the ATQB, three or four bytes; it also says the frame size and whether there is a CID.
    public let protocolInfo: [UInt8]
    /// The application family that it belongs to; a card of family 00 answers only when all families are called.
    public var applicationFamily: UInt8

    /// The protocol info of a card that says nothing special: 106 kbit/s, 256 bytes, ISO 14443-4, FWI 8, CID.
    public static let plainProtocolInfo: [UInt8] = [0x00, 0x81, 0x81]

    /// A card of type B; `nil` when something does not have its length.
    public init?(
        pupi: [UInt8]?, applicationData: [UInt8] = [0, 0, 0, 0], protocolInfo: [UInt8] = plainProtocolInfo,
        applicationFamily: UInt8 = 0
    ) {
        guard pupi.map({ $0.count == 4 }) ?? true, applicationData.count == 4, (3...4).contains(protocolInfo.count)
        else { return nil }
        self.pupi = pupi
        self.applicationData = applicationData
        self.protocolInfo = protocolInfo
        self.applicationFamily = applicationFamily
    }

    /// FSCI: the high nibble of the second byte of the protocol info.
    var frameSizeIndex: UInt8 { (protocolInfo.element(at: 1) ?? 0) >> 4 }
    /// FWI: the high nibble of the third.
    var waitingTimeIndex: UInt8 { (protocolInfo.element(at: 2) ?? 0) >> 4 }
    /// Whether the third says that blocks may carry a CID.
    var supportsCID: Bool { (protocolInfo.element(at: 2) ?? 0) & 0x01 != 0 }
    /// Whether the third says that blocks may carry a NAD.
    var supportsNAD: Bool { (protocolInfo.element(at: 2) ?? 0) & 0x02 != 0 }
    /// Whether the second says that the card speaks ISO 14443-4.
    var speaksISODEP: Bool { (protocolInfo.element(at: 1) ?? 0) & 0x01 != 0 }
}
