// SPDX-License-Identifier: Apache-2.0

internal import CLibUSB

/// The interface of a device that a driver uses, and its first bulk endpoint of each direction.
struct USBEndpoints: Hashable, Sendable {
    let interface: Int32
    let input: UInt8
    let output: UInt8
    /// The most that one packet to the device holds, in bytes.
    let outputPacket: Int

    /// Finds the first interface of a class that has both endpoints; `nil` when there is none.
    ///
    /// By class, not by number: an RC-S300 has a chip card interface first, which pcscd may hold.
    init?(in configuration: libusb_config_descriptor, classCode: UInt8) {
        let interfaces = unsafe UnsafeBufferPointer(
            start: configuration.interface, count: Int(configuration.bNumInterfaces))
        for settings in unsafe interfaces where settings.num_altsetting > 0 {
            guard let setting = unsafe settings.altsetting?.pointee, setting.bInterfaceClass == classCode,
                let found = unsafe USBEndpoints(setting)
            else { continue }
            self = found
            return
        }
        return nil
    }

    private init?(_ setting: libusb_interface_descriptor) {
        let bulk = UInt8(LIBUSB_TRANSFER_TYPE_BULK.rawValue)
        let endpoints = unsafe UnsafeBufferPointer(start: setting.endpoint, count: Int(setting.bNumEndpoints))
        let all = unsafe endpoints.filter { unsafe $0.bmAttributes & 0x03 == bulk }
        guard let input = unsafe all.first(where: { unsafe $0.bEndpointAddress & 0x80 != 0 }),
            let output = unsafe all.first(where: { unsafe $0.bEndpointAddress & 0x80 == 0 })
        else { return nil }
        interface = Int32(setting.bInterfaceNumber)
        unsafe self.input = input.bEndpointAddress
        unsafe self.output = output.bEndpointAddress
        unsafe outputPacket = max(1, Int(output.wMaxPacketSize & 0x07FF))
    }
}
