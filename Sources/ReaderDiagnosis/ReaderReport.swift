// SPDX-License-Identifier: Apache-2.0

public import SystemDevices

/// What was found of one reader on the USB.
public struct ReaderReport: Hashable, Sendable {
    /// The device.
    public let device: USBDevice
    /// What it is.
    public let model: ReaderModel
    /// What was found, layer by layer.
    public let checks: [Check]

    /// Its serial number, when that tells it from the others of its kind.
    let ownSerial: String?

    /// What `--reader` takes and `kazasu readers` prints, `nil` when nothing drives it.
    public var id: String? {
        switch model.driver {
        case nil: nil
        case let driver? where driver.hasSuffix("_usb"):
            "\(driver):\(USBDevice.threeDigits(device.bus)):\(USBDevice.threeDigits(device.address))"
        case let driver?: driver + (ownSerial.map { ":serial=\($0)" } ?? ":port=\(device.portPath)")
        }
    }

    /// Whether it can be used now.
    public var isReady: Bool { !checks.contains { $0.verdict == .fault } }

    /// The first thing that has to be mended before it can be used.
    public var fault: Check? { checks.first { $0.verdict == .fault } }

    /// Whether an ID, as a driver lists it, is this reader's.
    public func isNamed(by id: String) -> Bool { id == self.id }
}
