// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport

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
        var id: String { ([model.driver] + numbers.map(ConnectionString.threeDigits)).joined(separator: ":") }
    }

    /// Where to look.
    let paths: SystemPaths

    /// What is plugged in, by sysfs name.
    func run() -> [Found] {
        Directory.names(in: paths.usbDescriptions).compactMap { name in
            let description = "\(paths.usbDescriptions)/\(name)"
            guard let vendor = number(in: description, "idVendor", radix: 16),
                let product = number(in: description, "idProduct", radix: 16),
                let model = USBReaderModel.all.first(where: { $0.vendor == vendor && $0.product == product }),
                let bus = number(in: description, "busnum", radix: 10),
                let device = number(in: description, "devnum", radix: 10)
            else { return nil }
            return Found(model: model, numbers: [bus, device], state: state(of: name, [bus, device]))
        }
    }

    private func number(in description: String, _ file: String, radix: Int) -> Int? {
        Directory.line(of: "\(description)/\(file)").flatMap { Int($0, radix: radix) }
    }

    private func state(of name: String, _ numbers: [Int]) -> ReaderListing.State {
        let node = ([paths.usbDevices] + numbers.map(ConnectionString.threeDigits)).joined(separator: "/")
        if let obstacle = Directory.obstacle(at: node) {
            return .unavailable(obstacle.reason, detail: obstacle.detail)
        }
        // An interface, as 1-1.3:1.0, has a link to the driver that holds it.
        let interfaces = Directory.names(in: paths.usbDescriptions).filter { $0.hasPrefix("\(name):") }
        let holders = interfaces.compactMap { Directory.linkName(of: "\(paths.usbDescriptions)/\($0)/driver") }
        switch holders.first {
        case nil: return .ready
        case "usbfs"?: return .unavailable(.busy, detail: "another program holds it, perhaps pcscd")
        case let driver?: return .unavailable(.busy, detail: "the kernel driver \(driver) holds it")
        }
    }
}
