// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport

/// What a Port-100 has to be told before frames of one kind can be exchanged.
struct Port100Setting: Hashable, Sendable {
    /// The parameters of InSetRF: send set and type, receive set and type.
    var radio: [UInt8]
    /// The values of InSetProtocol by their number, every one of them.
    var protocolValues: [UInt8: UInt8]

    /// InSetProtocol's numbers that Kazasu changes.
    enum Number {
        static let initialGuardTime: UInt8 = 0x00
        static let addCRC: UInt8 = 0x01
        static let checkCRC: UInt8 = 0x02
        static let addParity: UInt8 = 0x04
        static let checkParity: UInt8 = 0x05
        static let bitwiseAnticollision: UInt8 = 0x06
        static let lastByteBits: UInt8 = 0x07
        static let addStartOfFrame: UInt8 = 0x09
        static let checkStartOfFrame: UInt8 = 0x0A
        static let addEndOfFrame: UInt8 = 0x0B
        static let checkEndOfFrame: UInt8 = 0x0C
    }

    /// The values that nfcpy sets before each exchange; those of FeliCa.
    static let defaults: [UInt8: UInt8] = [
        0x00: 0x18, 0x01: 0x01, 0x02: 0x01, 0x03: 0x00, 0x04: 0x00, 0x05: 0x00, 0x06: 0x00, 0x07: 0x08, 0x08: 0x00,
        0x09: 0x00, 0x0A: 0x00, 0x0B: 0x00, 0x0C: 0x00, 0x0E: 0x04, 0x0F: 0x00, 0x10: 0x00, 0x11: 0x00, 0x12: 0x00,
        0x13: 0x06,
    ]

    /// FeliCa.
    static func felica(_ bitRate: FeliCaBitRate) -> Port100Setting {
        switch bitRate {
        case .kbps212: Port100Setting(radio: [0x01, 0x01, 0x0F, 0x01], protocolValues: defaults)
        case .kbps424: Port100Setting(radio: [0x01, 0x02, 0x0F, 0x02], protocolValues: defaults)
        }
    }

    /// The parameters of InSetProtocol that turn other values into these; every one when there are none.
    func protocolParameters(after other: [UInt8: UInt8]?) -> [UInt8] {
        protocolValues.filter { other?[$0.key] != $0.value }.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
    }
}
