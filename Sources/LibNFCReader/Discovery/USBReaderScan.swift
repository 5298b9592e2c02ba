// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport
internal import SystemDevices

/// The USB readers of libnfc's that are plugged in, as sysfs shows them: nothing is opened, so those are found too
/// that libnfc leaves out because it may not open them or somebody else holds them.
struct USBReaderScan: Sendable {
    /// One reader.
    struct Found: Hashable, Sendable {
        /// What it is.
        let model: USBReaderModel
        /// Bus and device number.
        let numbers: [Int]
        /// Whether it can be opened.
        let state: ReaderListing.State

        /// Its connection string.
        var id: String { ([model.driver] + numbers.map(USBDevice.threeDigits)).joined(separator: ":") }
    }

    /// Where to look.
    let paths: SystemPaths

    /// What is plugged in, by sysfs name.
    func run() -> [Found] {
        USBDevice.all(paths).compactMap { device in
            USBReaderModel.all.first { $0.vendor == device.vendor && $0.product == device.product }.map {
                Found(model: $0, numbers: [device.bus, device.address], state: state(of: device))
            }
        }
    }

    private func state(of device: USBDevice) -> ReaderListing.State {
        if let obstacle = device.obstacle { return .unavailable(obstacle.reason, detail: obstacle.detail) }
        switch device.interfaces.compactMap(\.driver).first {
        case nil: return .ready
        case USBInterface.deviceFileDriver?:
            return .unavailable(.busy, detail: "another program holds it, perhaps pcscd")
        case let driver?: return .unavailable(.busy, detail: "the kernel driver \(driver) holds it")
        }
    }
}
