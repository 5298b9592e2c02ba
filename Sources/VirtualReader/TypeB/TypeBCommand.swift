// SPDX-License-Identifier: Apache-2.0

/// The commands of ISO 14443-3 type B.
enum TypeBCommand {
    /// REQB and WUPB: followed by the application family and a parameter. The low nibble of a slot marker, too.
    static let request: UInt8 = 0x05
    /// The bit of the parameter that makes a REQB a WUPB.
    static let wakeUp: UInt8 = 0x08
    /// ATTRIB.
    static let attribute: UInt8 = 0x1D
    /// HLTB, and the first byte of an ATQB.
    static let halt: UInt8 = 0x50
}
