// SPDX-License-Identifier: Apache-2.0

/// How a virtual card that speaks ISO 14443-4 is selected.
public enum ISODEPInterface: Hashable, Sendable {
    /// By type A, with this ATS (length byte included); the SAK gets its bit for ISO 14443-4 (20).
    case typeA(TypeAIdentity, ats: [UInt8] = ISODEPInterface.plainATS)
    /// By type B.
    case typeB(TypeBIdentity)

    /// The ATS of a card that says nothing special: 256 bytes, 106 kbit/s, FWI 8, CID, no historical bytes.
    public static let plainATS: [UInt8] = [0x05, 0x78, 0x00, 0x81, 0x02]
}
