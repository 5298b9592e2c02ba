// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SystemDevices

/// The serial ports that may lead to a reader: those of USB adapters, and those named by files or the environment.
struct SerialPortLayer {
    private let machine: Machine

    init(_ machine: Machine) {
        self.machine = machine
    }

    /// Whether there is a port.
    var hasPort: Bool { !adapters.isEmpty }

    func checks() -> [Check] {
        let named = named()
        let paths = named.compactMap(\.path)
        return named.compactMap(check) + adapters.filter { !paths.contains($0) }.compactMap { check(at: $0) }
    }

    private var adapters: [String] {
        Directory.names(in: machine.path("/dev")).filter { $0.hasPrefix("ttyUSB") || $0.hasPrefix("ttyACM") }
            .map { "/dev/\($0)" }
    }

    /// The explicitly named ports, each once.
    private func named() -> [NamedPort] {
        let variables = ["KAZASU_READER", "LIBNFC_DEVICE", "LIBNFC_DEFAULT_DEVICE"]
        let texts =
            variables.compactMap { machine.environment[$0] }
            + LibNFCSettings(root: machine.root).connectionStrings.map(\.value)
        var ports: [NamedPort] = []
        for port in texts.map(NamedPort.init) where port.isSerial && !ports.contains(where: { $0.path == port.path }) {
            ports.append(port)
        }
        return ports
    }

    private func check(_ port: NamedPort) -> Check? {
        guard let path = port.path else { return nil }
        if let speed = port.wrongSpeed { return Check(.portSpeed, path, speed) }
        return check(at: path)
    }

    private func check(at path: String) -> Check? {
        if let fault = machine.obstacle(machine.path(path)) {
            if fault.errorNumber == ENOENT { return Check(.portMissing, path) }
            if let group = fault.group, !machine.isMember(group) {
                return Check(.portNotInGroup, path, group)
            }
            return Check(.portDenied, path)
        }
        if let holder = RunningProgram.holding(path, on: machine).first {
            return Check(.portInUse, path, String(holder.process), holder.name)
        }
        return Check(.portFree, path)
    }
}

/// A libnfc connection string, or the ID of a PN532, checked without opening it.
struct NamedPort: Hashable {
    /// libnfc's driver, or that of `pn532`; `nil` for another name.
    private let family: ReaderFamily?
    /// The device file, for drivers that have one.
    let path: String?
    /// The speed as written.
    let speed: String?

    init(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let name = parts.first ?? ""
        family = name.lowercased() == ReaderFamily.pn532.name ? .pn532 : ReaderFamily(libnfc: name)
        path = parts.dropFirst().first.flatMap { $0.hasPrefix("/") ? $0 : nil }
        speed = path == nil ? nil : parts.dropFirst(2).first
    }

    /// Whether libnfc as Debian builds it has the driver.
    var isKnown: Bool { family.map { $0 != .pn532 && $0.address != .other } ?? false }

    var isSerial: Bool { path != nil && family?.address == .serial }

    /// A speed that libnfc does not support.
    var wrongSpeed: String? {
        guard isSerial, family != .pn532, let speed, !SerialSpeeds.libnfc.map(String.init).contains(speed) else {
            return nil
        }
        return speed
    }
}
