// SPDX-License-Identifier: Apache-2.0

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
