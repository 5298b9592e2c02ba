// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import SystemDevices

/// What else is on the USB.
struct BusLayer {
    /// The class of chip card readers.
    private static let chipCard: UInt8 = 0x0B

    private let machine: Machine

    init(_ machine: Machine) {
        self.machine = machine
    }

    /// The chip card readers that Kazasu drives through pcscd only.
    var strangeReaders: [USBDevice] {
        USBDevice.all(machine.devices).filter { device in
            ReaderModel(of: device) == nil && device.interfaces.contains { $0.classCode == Self.chipCard }
        }
    }

    func checks(hasReader: Bool) -> [Check] {
        let notes = strangeReaders.map { Check(.strangeReader, Self.name($0), Self.numbers($0)) }
        return (hasReader ? [] : [Check(.noReader)]) + notes
            + (notes.isEmpty ? [] : [ChipCardService(machine).check()])
    }

    /// What a device calls itself, or its numbers.
    static func name(_ device: USBDevice) -> String { device.name ?? numbers(device) }

    private static func numbers(_ device: USBDevice) -> String {
        "\(Hex.encode(device.vendor, digits: 4)):\(Hex.encode(device.product, digits: 4))"
    }
}
