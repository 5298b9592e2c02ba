// SPDX-License-Identifier: Apache-2.0

/// The speeds of the chip's serial line, in the order of SetSerialBaudRate's parameter.
enum SerialSpeed: UInt8, CaseIterable, Sendable {
    case baud9600, baud19200, baud38400, baud57600, baud115200, baud230400, baud460800, baud921600, baud1288000

    /// What a PN532 starts with.
    static let initial = SerialSpeed.baud115200

    /// The speed of so many bits a second, `nil` when the chip has none such.
    init?(bitsPerSecond: Int) {
        guard let speed = Self.allCases.first(where: { $0.bitsPerSecond == bitsPerSecond }) else { return nil }
        self = speed
    }

    /// Bits a second.
    var bitsPerSecond: Int64 {
        switch self {
        case .baud9600: 9_600
        case .baud19200: 19_200
        case .baud38400: 38_400
        case .baud57600: 57_600
        case .baud115200: 115_200
        case .baud230400: 230_400
        case .baud460800: 460_800
        case .baud921600: 921_600
        case .baud1288000: 1_288_000
        }
    }

    /// How long a byte takes, with its start and its stop bit.
    var byteTime: Duration { .nanoseconds(10_000_000_000 / bitsPerSecond) }
}
