// SPDX-License-Identifier: Apache-2.0

internal import CLibUSB

/// The interface of a device that a driver uses, and its first bulk endpoint of each direction.
struct USBEndpoints: Hashable, Sendable {
    let interface: Int32
    let input: UInt8
    let output: UInt8
    /// The most that one packet to the device holds, in bytes.
    let outputPacket: Int

    /// One endpoint: its address and the most that one packet holds.
    private struct Bulk {
        let address: UInt8
        let packet: Int

        var isInput: Bool { address & 0x80 != 0 }
    }

    /// Finds the first interface of a class that has both endpoints; `nil` when there is none.
    ///
    /// By class, not by number: an RC-S300 has a chip card interface first, which pcscd may hold.
    @unsafe init?(in configuration: libusb_config_descriptor, classCode: UInt8) {
        for index in unsafe 0..<Int(configuration.bNumInterfaces) {
            guard let settings = unsafe configuration.interface?[index], unsafe settings.num_altsetting > 0,
                let setting = unsafe settings.altsetting?.pointee, unsafe setting.bInterfaceClass == classCode
            else { continue }
            let all = unsafe Self.bulk(setting)
            guard let input = all.first(where: \.isInput), let output = all.first(where: { !$0.isInput }) else {
                continue
            }
            unsafe interface = Int32(setting.bInterfaceNumber)
            self.input = input.address
            self.output = output.address
            outputPacket = max(1, output.packet)
            return
        }
        return nil
    }

    @unsafe private static func bulk(_ setting: libusb_interface_descriptor) -> [Bulk] {
        unsafe (0..<Int(setting.bNumEndpoints)).compactMap { index in
            guard let endpoint = unsafe setting.endpoint?[index],
                unsafe UInt32(endpoint.bmAttributes & 0x03) == LIBUSB_TRANSFER_TYPE_BULK.rawValue
            else { return nil }
            return unsafe Bulk(address: endpoint.bEndpointAddress, packet: Int(endpoint.wMaxPacketSize & 0x07FF))
        }
    }
}
