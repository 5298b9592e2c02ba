// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SystemDevices

/// A program that runs and has a device file open.
struct RunningProgram: Hashable, Sendable {
    let process: Int
    let name: String

    /// The programs that have a device file open, as far as the user may see.
    static func holding(_ node: String, on machine: Machine) -> [RunningProgram] {
        let own = machine.root.isEmpty ? Int(getpid()) : -1
        let processes = Directory.names(in: machine.path("/proc")).compactMap { Int($0) }.filter { $0 != own }
        return processes.sorted().compactMap { process in
            let folder = machine.path("/proc/\(process)")
            let files = Directory.names(in: "\(folder)/fd")
            guard files.contains(where: { Directory.linkTarget(of: "\(folder)/fd/\($0)") == node }) else { return nil }
            return RunningProgram(process: process, name: Directory.line(of: "\(folder)/comm") ?? "?")
        }
    }

    /// Whether this is the PC/SC daemon.
    var isPcscd: Bool { name == "pcscd" }
}
