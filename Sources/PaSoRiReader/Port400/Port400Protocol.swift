// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport

/// How a Port-400 sends frames.
enum Port400Protocol: Hashable, Sendable {
    case felica(FeliCaBitRate)
    case typeA
    case typeB

    /// The value of data object 8F: the standard and the layer.
    ///
    /// FeliCa with a fixed speed and type A at layer 3 are as captured from RC-S300s; for type B layer 3 is from the
    /// command reference of the RC-S660/S.
    var selector: [UInt8] {
        switch self {
        case .felica: [0x03, 0x00]
        case .typeA: [0x00, 0x03]
        case .typeB: [0x01, 0x03]
        }
    }

    /// The code of a FeliCa speed, the same in both directions: `10 sss rrr` in bits, with 1 for 212 kbit/s, 3 for 848, so
    /// 2 for 424. `89` and `9B` are documented for the RC-S660/S; nobody is known to send any to an RC-S300.
    var speed: UInt8? {
        switch self {
        case .felica(.kbps212): 0x89
        case .felica(.kbps424): 0x92
        case .typeA, .typeB: nil
        }
    }
}
