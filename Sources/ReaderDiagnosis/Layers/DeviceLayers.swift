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
        return [plugged, Check(.driven, driver), permission(), kernelDriver(), process()]
            + (firmware.map { [$0] } ?? [])
    }

    private var node: String { machine.plain(device.node) }

    private func permission() -> Check {
        guard let fault = machine.obstacle(device.node) else { return Check(.permitted, node) }
        if fault.errorNumber == ENOENT { return Check(.noDeviceFile, node) }
        // Do not recommend joining root's group; a group that was assigned to the reader is fine.
        if let group = fault.group, group != "root", !machine.isMember(group) {
            return Check(.notInGroup, node, group)
        }
        if let rule = UdevRules.masked(on: machine) { return Check(.ruleMasked, node, rule) }
        return UdevRules.areInstalled(on: machine)
            ? Check(.ruleNotApplied, node) : Check(.noRule, node, UdevRules.match(model) + ", " + UdevRules.seat)
    }

    /// The interfaces that a Kazasu driver uses: the vendor's own where a reader has one, else all.
    private var interfaces: [USBInterface] {
        let own = device.interfaces.filter { $0.classCode == 0xFF }
        return own.isEmpty ? device.interfaces : own
    }

    private func kernelDriver() -> Check {
        let drivers = interfaces.compactMap(\.driver).filter { $0 != USBInterface.deviceFileDriver }
        if let driver = drivers.first { return Check(.kernelDriverYields, driver) }
        // A loaded driver takes its readers when they are plugged in; a program that is killed while it has one cannot
        // reattach it. Whether this state is intended is not known, so only the user reattaches the driver.
        guard let driver = model.kernelDriver, let free = interfaces.first, interfaces.allSatisfy({ $0.driver == nil }),
            !Directory.names(in: machine.path("/sys/bus/usb/drivers/\(driver)")).isEmpty
        else { return Check(.noKernelDriver) }
        return Check(.kernelDriverAway, driver, "\(device.portPath):1.\(free.number)")
    }

    private func process() -> Check {
        let holders = RunningProgram.holding(node, on: machine)
        guard interfaces.contains(where: { $0.driver == USBInterface.deviceFileDriver }) else {
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
    private static let chipCard: UInt8 = 0x0B

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
