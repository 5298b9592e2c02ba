// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SystemDevices

/// The kind of system.
struct HostLayer {
    private let machine: Machine

    init(_ machine: Machine) {
        self.machine = machine
    }

    func checks(hasReader: Bool) -> [Check] {
        let hasDevice = hasReader || SerialPortLayer(machine).hasPort
        if isWSL { return [Check(hasDevice ? .wsl : .wslWithoutReader)] }
        if isContainer { return [Check(hasDevice ? .container : .containerWithoutReader)] }
        return [Check(.plainHost)]
    }

    /// Microsoft's kernels are identified by their release.
    private var isWSL: Bool {
        let release = Directory.line(of: machine.path("/proc/sys/kernel/osrelease")) ?? ""
        return release.lowercased().contains("microsoft")
    }

    /// The marker files of Docker and of Podman, and the variable for systemd's containers.
    private var isContainer: Bool {
        machine.exists("/.dockerenv") || machine.exists("/run/.containerenv")
            || machine.exists("/run/systemd/container")
            || !(machine.environment["container"] ?? "").isEmpty
    }
}

/// pcscd, the service that provides every CCID reader: whether it is available, judged by its files.
///
/// It is not queried: a query starts it where it is started on demand, and it takes readers.
package struct ChipCardService: Sendable {
    private let machine: Machine

    package init(_ machine: Machine) {
        self.machine = machine
    }

    /// The locations where Debian and `make install` put the program.
    private static let programs = ["/usr/sbin/pcscd", "/usr/local/sbin/pcscd", "/sbin/pcscd"]

    /// The socket that libpcsclite connects to.
    private var socket: String {
        machine.environment["PCSCLITE_CSOCK_NAME"].flatMap { $0.isEmpty ? nil : $0 } ?? "/run/pcscd/pcscd.comm"
    }

    /// Returns the finding: that it runs or is started on demand, or the obstacle and the one command that fixes it.
    package func check() -> Check {
        if machine.exists(socket) {
            let fault = machine.obstacle(machine.path(socket))
            return fault.map { $0.errorNumber == ENOENT } ?? true
                ? Check(.serviceThere, socket) : Check(.serviceClosed, socket)
        }
        return Check(Self.programs.contains(where: machine.exists) ? .serviceStopped : .serviceMissing)
    }
}
