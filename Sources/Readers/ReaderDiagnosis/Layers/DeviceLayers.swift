// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import Glibc
internal import SystemDevices

/// The obstacles between the user and one reader on the USB.
struct DeviceLayers {
    private let machine: Machine
    private let device: USBDevice
    private let model: ReaderModel

    init(_ machine: Machine, _ device: USBDevice, _ model: ReaderModel) {
        (self.machine, self.device, self.model) = (machine, device, model)
    }

    func checks() -> [Check] {
        let plugged = Check(.plugged, device.portPath, String(device.bus), String(device.address))
        guard let driver = model.driver else {
            return [plugged] + (model.obstacle.map { [Check(.notDriven, [$0])] } ?? [])
        }
        let firmware = FirmwareWarning.check(device, release: device.release)
        return [plugged, Check(.driven, Self.drivers(driver)), permission()] + (pcscd().map { [$0] } ?? [])
            + [kernelDriver(), process()] + (firmware.map { [$0] } ?? [])
    }

    /// The names of the drivers: an ACR122U has two.
    private static func drivers(_ name: String) -> String { name == "acr122_usb" ? "\(name), acr122" : name }

    private var node: String { machine.plain(device.node) }

    private func permission() -> Check {
        guard let fault = machine.obstacle(device.node) else { return Check(.permitted, node) }
        if fault.errorNumber == ENOENT { return Check(.noDeviceFile, node) }
        if let group = fault.group, !machine.isMember(group) {
            // Membership in a service's group would be more than this device.
            if group == UdevRules.pcscdGroup { return Check(.ownedByPcscd, node) }
            return Check(.notInGroup, node, group)
        }
        if let rule = UdevRules.masked(on: machine) { return Check(.ruleMasked, node, rule) }
        guard UdevRules.areInstalled(on: machine) else {
            return Check(.noRule, node, UdevRules.match(model) + ", " + UdevRules.seat)
        }
        return machine.has(group: UdevRules.group)
            ? Check(.ruleNotApplied, node) : Check(.groupMissing, node, UdevRules.group)
    }

    /// Whether a rule keeps a chip card reader from a pcscd that is not root.
    private func pcscd() -> Check? {
        guard model.isTakenByPcscd, device.interfaces.contains(where: { $0.classCode == BusLayer.chipCard }),
            machine.has(group: UdevRules.pcscdGroup), let group = machine.group(device.node),
            !["root", UdevRules.pcscdGroup].contains(group)
        else { return nil }
        return Check(.pcscdShutOut, group)
    }

    private func kernelDriver() -> Check {
        let drivers = device.readerInterfaces.compactMap(\.driver).filter { $0 != USBInterface.deviceFileDriver }
        if let driver = drivers.first { return Check(.kernelDriverYields, driver) }
        guard let lost = device.lostKernelDriver(machine.devices) else { return Check(.noKernelDriver) }
        return Check(.kernelDriverAway, lost.name, "\(device.portPath):1.\(lost.interface.number)")
    }

    private func process() -> Check {
        let holders = RunningProgram.holding(node, on: machine)
        guard device.readerInterfaces.contains(where: { $0.driver == USBInterface.deviceFileDriver }) else {
            return Check(holders.contains(where: \.isPcscd) ? .pcscdBeside : .unheld)
        }
        guard let holder = holders.first else { return Check(.heldByUnknown) }
        if holder.isPcscd { return Check(.heldByPcscd, String(holder.process)) }
        return Check(.heldByProgram, String(holder.process), holder.name)
    }
}

/// The other devices on the USB.
struct BusLayer {
    /// The class of chip card readers.
    static let chipCard: UInt8 = 0x0B

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

    /// The device's own name, or its numbers.
    static func name(_ device: USBDevice) -> String { device.name ?? numbers(device) }

    private static func numbers(_ device: USBDevice) -> String {
        "\(Hex.encode(device.vendor, digits: 4)):\(Hex.encode(device.product, digits: 4))"
    }
}
