// SPDX-License-Identifier: Apache-2.0

internal import SystemDevices

/// Finds out why no reader can be used. Nothing is opened and nothing is changed.
public struct Doctor: Sendable {
    private let machine: Machine

    /// A doctor for a system.
    public init(_ machine: Machine) {
        self.machine = machine
    }

    /// Examines everything, layer by layer.
    public func examine() -> Diagnosis {
        let readers = readers()
        return Diagnosis(
            readers: readers,
            system: HostLayer(machine).checks(hasReader: !readers.isEmpty)
                + BusLayer(machine).checks(hasReader: !readers.isEmpty) + ConfigurationLayer(machine).checks()
                + SerialPortLayer(machine).checks())
    }

    /// What the chip card readers on the USB call themselves that only pcscd can serve.
    public func readersOfService() -> [String] {
        BusLayer(machine).strangeReaders.map(BusLayer.name)
    }

    /// Examines the readers on the USB only.
    public func readers() -> [ReaderReport] {
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
