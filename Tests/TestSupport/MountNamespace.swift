// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Programs with mounts that nothing else sees.
package enum MountNamespace {
    /// Why there can be none here, or `nil` if there can.
    package static let obstacle: String? = {
        let result = try? ChildProcess.run("/usr/bin/unshare", options + ["/bin/mount", "--bind", "/run", "/mnt"])
        return result?.end == .exited(0) ? nil : "no mount namespace of our own is allowed here"
    }()

    private static var options: [String] { geteuid() == 0 ? ["-m"] : ["-rm"] }

    /// Starts a command of the shell, which may mount what it likes, and ends with `exec`.
    package static func start(
        _ command: String, environment: [String: String] = [:], pipeSize: Int? = nil
    ) throws -> RunningChild {
        try RunningChild(
            "/usr/bin/unshare", options + ["/bin/sh", "-c", command], environment: environment, limit: .seconds(300),
            pipeSize: pipeSize)
    }
}
