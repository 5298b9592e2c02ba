// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A folder on a server that is gone, as after the network was lost: whatever looks into it waits, and no signal that is handled
/// ends the wait. It is a FUSE file system that nobody serves, in a mount namespace of its own.
package enum DeadMount {
    /// Why there can be none here, or `nil` if there can.
    package static let obstacle: String? = {
        if let obstacle = MountNamespace.obstacle { return obstacle }
        guard let folder = try? TemporaryFolder() else { return "no temporary folder" }
        let child = try? MountNamespace.start(command(folder.path) + "exec /bin/true")
        return child?.finish().end == .exited(0) ? nil : "no FUSE file system is allowed here"
    }()

    /// Starts a program beside a dead mount.
    ///
    /// - Parameters:
    ///   - folder: the folder that is dead for the program.
    ///   - words: the program and its arguments.
    package static func start(
        _ folder: String, _ words: [String], environment: [String: String]
    ) throws -> RunningChild {
        let quoted = words.map { "'" + $0.replacing("'", with: "'\\''") + "'" }.joined(separator: " ")
        return try MountNamespace.start(command(folder) + "exec " + quoted, environment: environment)
    }

    /// The program keeps the connection, which ends with it.
    private static func command(_ folder: String) -> String {
        "exec 3<>/dev/fuse && mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 none '\(folder)' && "
    }
}

extension RunningChild {
    /// Waits until a thread of the child waits for a dead mount.
    ///
    /// - Parameter names: the names of the programs that the child becomes.
    /// - Returns: `false` if the child ends before.
    package func hangs(as names: [String]) -> Bool {
        func text(_ path: String) -> String { String(decoding: (try? TestFiles.read(path)) ?? [], as: UTF8.self) }
        let folder = "/proc/\(process)"
        while true {
            let status = text("\(folder)/stat")
            // The state stands behind the name in brackets, which may contain anything.
            guard let state = Self.state(status), state != "Z", state != "X" else { return false }
            if names.contains(where: { status.contains("(\($0))") }) {
                let threads =
                    (try? ChildProcess.run("/bin/ls", ["\(folder)/task"]))?.output.split(separator: "\n") ?? []
                if threads.contains(where: { Self.state(text("\(folder)/task/\($0)/stat")) == "D" }) { return true }
            }
            sched_yield()
        }
    }

    private static func state(_ status: String) -> Character? {
        status.lastIndex(of: ")").flatMap { status[$0...].dropFirst(2).first }
    }
}
