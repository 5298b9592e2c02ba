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

    func checks(hasReader: Bool) -> [Check] {
        let strange = USBDevice.all(machine.devices).filter { device in
            ReaderModel(of: device) == nil && device.interfaces.contains { $0.classCode == Self.chipCard }
        }
        let notes = strange.map { device in
            let numbers = "\(Hex.encode(device.vendor, digits: 4)):\(Hex.encode(device.product, digits: 4))"
            return Check(.strangeReader, device.name ?? numbers, numbers)
        }
        return (hasReader ? [] : [Check(.noReader)]) + notes
    }
}
