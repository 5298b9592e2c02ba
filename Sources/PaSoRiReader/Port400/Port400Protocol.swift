// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport

/// How a Port-400 sends frames.
enum Port400Protocol: Hashable, Sendable {
    case felica(FeliCaBitRate)
    case typeA
    case typeB

    /// The value of data object 8F: the standard and the layer.
    ///
    /// FeliCa with a fixed speed and type A at layer 3 are as felica-rs, pasorich and others send them; for type B layer 3
    /// is inferred from them.
    var selector: [UInt8] {
        switch self {
        case .felica: [0x03, 0x00]
        case .typeA: [0x00, 0x03]
        case .typeB: [0x01, 0x03]
        }
    }

    /// The speed to set, where there is a choice.
    var speed: UInt8? {
        switch self {
        case .felica(.kbps212): 0x09
        case .felica(.kbps424): 0x12
        case .typeA, .typeB: nil
        }
    }
}
