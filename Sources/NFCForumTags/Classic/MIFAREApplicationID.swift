// SPDX-License-Identifier: Apache-2.0

/// What a sector of a MIFARE Classic is used for, two bytes of its application directory.
///
/// Source: NXP AN10787; the names of the administration codes are those of table 4 there.
public struct MIFAREApplicationID: Hashable, Sendable {
    /// The first byte: which application of the cluster.
    public var applicationCode: UInt8
    /// The second byte: the branch; 00 is for administration.
    public var functionCluster: UInt8

    /// An application by its two codes.
    public init(applicationCode: UInt8, functionCluster: UInt8) {
        self.applicationCode = applicationCode
        self.functionCluster = functionCluster
    }

    /// The sector is free.
    public static let free = MIFAREApplicationID(applicationCode: 0x00, functionCluster: 0x00)
    /// The sector is defective.
    public static let defect = MIFAREApplicationID(applicationCode: 0x01, functionCluster: 0x00)
    /// The sector is reserved.
    public static let reserved = MIFAREApplicationID(applicationCode: 0x02, functionCluster: 0x00)
    /// The sector goes on with the directory.
    public static let directory = MIFAREApplicationID(applicationCode: 0x03, functionCluster: 0x00)
    /// The sector tells the holder of the card.
    public static let holder = MIFAREApplicationID(applicationCode: 0x04, functionCluster: 0x00)
    /// The card has no such sector.
    public static let absent = MIFAREApplicationID(applicationCode: 0x05, functionCluster: 0x00)
    /// The sector holds NDEF: bytes `03 E1` (NXP AN1304).
    public static let ndef = MIFAREApplicationID(applicationCode: 0x03, functionCluster: 0xE1)
}
