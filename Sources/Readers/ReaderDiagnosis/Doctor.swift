// SPDX-License-Identifier: Apache-2.0

internal import CardModel
@_exported public import SystemDevices

/// Finds out why no reader can be used. Nothing is opened and nothing is changed.
package struct Doctor: Sendable {
    private let machine: Machine

    package init(_ machine: Machine) {
        self.machine = machine
    }

    /// Examines everything, layer by layer.
    package func examine() -> Diagnosis {
        let readers = readers()
        return Diagnosis(
            readers: readers,
            system: HostLayer(machine).checks(hasReader: !readers.isEmpty)
                + BusLayer(machine).checks(hasReader: !readers.isEmpty) + ConfigurationLayer(machine).checks()
                + SerialPortLayer(machine).checks() + VirtualSlotLayer(machine).checks())
    }

    /// The names of the connected USB chip card readers that only pcscd can serve.
    package func readersOfService() -> [String] {
        BusLayer(machine).strangeReaders.map(BusLayer.name)
    }

    /// Examines the readers on the USB only.
    package func readers() -> [ReaderReport] {
        let devices = USBDevice.all(machine.devices)
        return devices.compactMap { device in
            guard let model = ReaderModel(of: device) else { return nil }
            let equals = devices.filter { ReaderModel(of: $0)?.driver == model.driver }
            return ReaderReport(
                device: device, model: model, checks: DeviceLayers(machine, device, model).checks(),
                ownSerial: device.ownSerial(among: equals))
        }
    }
}

/// The findings on a whole system.
package struct Diagnosis: Hashable, Sendable {
    /// The readers on the USB.
    package var readers: [ReaderReport]
    /// The findings that do not concern a single reader.
    package var system: [Check]

    package init(readers: [ReaderReport], system: [Check]) {
        self.readers = readers
        self.system = system
    }

    /// Whether a reader can be used: a USB reader without a fault, one that pcscd lists, or one that was tried and
    /// answered.
    package var isReady: Bool {
        readers.contains(where: \.isReady) || system.contains { [.answers, .serviceHasReader].contains($0.code) }
    }

    /// Adds the result of opening the reader that the user named.
    ///
    /// When it answers, a system without readers on the USB has no fault.
    package mutating func add(trial: Check) {
        if trial.code == .answers {
            system = system.map { check in
                switch check.code {
                case .noReader: Check(.noUSBReader)
                case .wslWithoutReader: Check(.wsl)
                case .containerWithoutReader: Check(.container)
                default: check
                }
            }
        }
        system.append(trial)
    }

    /// All findings.
    package var checks: [Check] { readers.flatMap(\.checks) + system }
}

/// The findings on one reader on the USB.
package struct ReaderReport: Hashable, Sendable {
    package let device: USBDevice
    package let model: ReaderModel
    /// The findings, layer by layer.
    package let checks: [Check]

    /// The serial number, when it is unique among readers of its kind.
    let ownSerial: String?

    /// The ID for `--reader`, as printed by `kazasu readers`; `nil` when nothing drives it.
    package var id: String? {
        model.driver.map { $0 + (ownSerial.map { ":serial=\($0)" } ?? ":port=\(device.portPath)") }
    }

    /// Whether it can be used now.
    package var isReady: Bool { !checks.contains { $0.verdict == .fault } }

    /// The first fault to fix before it can be used.
    package var fault: Check? { checks.first { $0.verdict == .fault } }

    /// Whether an ID, as listed by a driver, is this reader's.
    package func isNamed(by id: String) -> Bool { id == self.id }
}

/// The known faults of some versions of a reader's firmware: a row of `Data/firmware-faults.tsv`.
struct FirmwareWarning: Hashable, Sendable {
    let vendor: UInt16
    let product: UInt16
    /// Device releases, first and last.
    let releases: ClosedRange<UInt16>
    let text: LocalizedText

    static let table = FactTable(
        PackageResources.firmware_faults_tsv, columns: ["vendor", "product", "from", "to", "english", "japanese"],
        key: ["vendor", "product", "from"], row: FirmwareWarning.init(_:))

    private init(_ row: FactRow) throws(FactTableError) {
        vendor = try row.hex("vendor")
        product = try row.hex("product")
        let (from, to): (UInt16, UInt16) = (try row.hex("from"), try row.hex("to"))
        guard from <= to else { throw row.fault("to", .notANumber) }
        releases = from...to
        text = LocalizedText(try row.required("english"), try row.required("japanese"))
    }

    /// Returns the known facts about a device's firmware.
    static func check(_ device: USBDevice, release: UInt16?) -> Check? {
        guard let release else { return nil }
        let known = table.rows.filter { $0.vendor == device.vendor && $0.product == device.product }
        guard !known.isEmpty else { return nil }
        let version = LocalizedText(Self.version(release), Self.version(release))
        guard let fault = known.first(where: { $0.releases.contains(release) }) else {
            return Check(.firmwareFine, [version])
        }
        return Check(.firmwareFault, [version, fault.text])
    }

    /// 0203 is 2.03.
    private static func version(_ release: UInt16) -> String {
        let digits = String(release & 0xFF, radix: 16)
        return "\(String(release >> 8, radix: 16)).\(digits.utf8.count < 2 ? "0" : "")\(digits)"
    }
}
