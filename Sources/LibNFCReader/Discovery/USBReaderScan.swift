// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport
internal import SystemDevices

/// The USB readers of libnfc's that are plugged in, as sysfs shows them: nothing is opened, so those are found too
/// that libnfc leaves out because it may not open them or somebody else holds them.
struct USBReaderScan: Sendable {
    /// One reader.
    struct Found: Hashable, Sendable {
        /// What it is.
        let model: ReaderModel
        /// libnfc's driver for it.
        let driver: String
        /// The device.
        let device: USBDevice
        /// Whether it can be opened.
        let state: ReaderListing.State

        /// Bus and device number.
        var numbers: [Int] { [device.bus, device.address] }

        /// Its connection string.
        var id: String { ([driver] + numbers.map(USBDevice.threeDigits)).joined(separator: ":") }

        /// The kernel driver that holds it and gives it away for as long as it is open.
        var kernelDriver: String? {
            device.interfaces.compactMap(\.driver).first { $0 != USBInterface.deviceFileDriver }
        }
    }

    /// libnfc's drivers of USB readers.
    private static let drivers = ["pn53x_usb", "acr122_usb"]

    /// Where to look.
    let paths: SystemPaths

    /// What is plugged in, by sysfs name.
    func run() -> [Found] {
        USBDevice.all(paths).compactMap { device in
            guard let model = ReaderModel(of: device), let driver = model.driver, Self.drivers.contains(driver) else {
                return nil
            }
            return Found(model: model, driver: driver, device: device, state: state(of: device))
        }
    }

    private func state(of device: USBDevice) -> ReaderListing.State {
        if let obstacle = device.obstacle { return .unavailable(obstacle.reason, detail: obstacle.detail) }
        guard device.interfaces.contains(where: { $0.driver == USBInterface.deviceFileDriver }) else { return .ready }
        return .unavailable(.busy, detail: "another program holds it, perhaps pcscd")
    }
}
