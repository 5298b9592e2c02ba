// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SystemDevices

/// What kind of system this is.
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

    /// Microsoft's kernels say so in their release.
    private var isWSL: Bool {
        let release = Directory.line(of: machine.path("/proc/sys/kernel/osrelease")) ?? ""
        return release.lowercased().contains("microsoft")
    }

    /// The marks of Docker and of Podman, and what systemd's containers are told.
    private var isContainer: Bool {
        machine.exists("/.dockerenv") || machine.exists("/run/.containerenv")
            || machine.exists("/run/systemd/container")
            || !(machine.environment["container"] ?? "").isEmpty
    }
}

/// pcscd, the service behind which every CCID reader is found: whether it is there, as far as its files tell.
///
/// Nothing is asked of it: asking starts it where it is started on demand, and it takes readers.
package struct ChipCardService: Sendable {
    private let machine: Machine

    /// The service of a system.
    package init(_ machine: Machine) {
        self.machine = machine
    }

    /// Where Debian and `make install` put the program.
    private static let programs = ["/usr/sbin/pcscd", "/usr/local/sbin/pcscd", "/sbin/pcscd"]

    /// What libpcsclite connects to.
    private var socket: String {
        machine.environment["PCSCLITE_CSOCK_NAME"].flatMap { $0.isEmpty ? nil : $0 } ?? "/run/pcscd/pcscd.comm"
    }

    /// What was found: that it runs or is started on demand, or what keeps it from that and the one command that mends it.
    package func check() -> Check {
        if machine.exists(socket) {
            let fault = machine.obstacle(machine.path(socket))
            return fault.map { $0.errorNumber == ENOENT } ?? true
                ? Check(.serviceThere, socket) : Check(.serviceClosed, socket)
        }
        return Check(Self.programs.contains(where: machine.exists) ? .serviceStopped : .serviceMissing)
    }
}
