// SPDX-License-Identifier: Apache-2.0

/// The code of a FeliCa system; big-endian on the wire. `FF` in either byte is a wildcard in a Polling.
public struct SystemCode: FourDigitCode {
    /// The number that the four digits write: `0x0003` for `0003`.
    public let rawValue: UInt16

    /// A system code from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// `FFFF`: any system.
    public static let any = SystemCode(rawValue: 0xFFFF)
    /// `0003`: the mutual-use transit cards (Suica, PASMO, ICOCA, …).
    public static let transit = SystemCode(rawValue: 0x0003)
    /// `FE00`: the common area (Edy, nanaco, WAON, …).
    public static let commonArea = SystemCode(rawValue: 0xFE00)
    /// `12FC`: NDEF, the NFC Forum Type 3 Tag.
    public static let ndef = SystemCode(rawValue: 0x12FC)
    /// `88B4`: FeliCa Lite and Lite-S.
    public static let lite = SystemCode(rawValue: 0x88B4)
    /// `957A`: FeliCa Secure ID.
    public static let secureID = SystemCode(rawValue: 0x957A)
    /// `8008`: Octopus.
    public static let octopus = SystemCode(rawValue: 0x8008)
    /// `8005`: Shenzhen Tong (legacy).
    public static let shenzhenTong = SystemCode(rawValue: 0x8005)
}
