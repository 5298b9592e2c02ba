// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Dispatch
internal import Glibc
internal import Synchronization

/// `--exec PATH`: a program for each event, without a shell and without arguments.
package final class ExecSink: Sink {
    package let name: String
    package let window = 1
    package let retries: Int? = 5

    private let path: String
    private let timeout: Duration
    /// How long a program has between SIGTERM and SIGKILL.
    private let grace: Duration

    package init(_ path: String, timeout: Duration = .seconds(30), grace: Duration = .seconds(2)) {
        (self.path, self.timeout, self.grace) = (path, timeout, grace)
        name = "exec:" + path
    }

    package func deliver(_ events: [OutboxEvent]) async -> [DeliveryResult] {
        var results: [DeliveryResult] = []
        for event in events {
            let result = await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: self.run(event)) }
            }
            results.append(result)
            guard case .retry = result else { continue }
            return results + events.dropFirst(results.count).map { _ in result }
        }
        return results
    }

    package func close() async {}

    /// Runs the program to its end.
    private func run(_ event: OutboxEvent) -> DeliveryResult {
        let body = Array((event.line + "\n").utf8)
        guard let input = Self.pipe(with: body) else { return .retry("errno\(errno)") }
        defer { Glibc.close(input) }
        let child: pid_t
        switch start(input: input, Self.environment(for: event)) {
        case .success(let process): child = process
        case .failure(let error): return .retry("errno\(error.code)")
        }
        let limits = Limits(child)
        DispatchQueue.global().asyncAfter(deadline: .now() + timeout / .seconds(1)) { limits.kill(SIGTERM) }
        DispatchQueue.global().asyncAfter(deadline: .now() + (timeout + grace) / .seconds(1)) { limits.kill(SIGKILL) }
        let status = limits.wait()
        if limits.isOver { return .retry("timeout") }
        let signal = status & 0x7F
        if signal != 0 { return .retry("signal\(signal)") }
        let code = status >> 8 & 0xFF
        return code == 0 ? .delivered : .retry("status\(code)")
    }

    /// F_SETPIPE_SZ
    private static let setPipeSize: Int32 = 1031

    /// A pipe that holds all the bytes, so that nothing waits for a program that does not read them.
    private static func pipe(with bytes: [UInt8]) -> Int32? {
        var ends: [Int32] = [-1, -1]
        guard unsafe kazasu_pipe(&ends, O_CLOEXEC) == 0 else { return nil }
        defer { Glibc.close(ends[1]) }
        _ = fcntl(ends[1], setPipeSize, Int32(clamping: bytes.count))
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        guard unsafe write(ends[1], bytes, bytes.count) == bytes.count else {
            Glibc.close(ends[0])
            errno = E2BIG
            return nil
        }
        return ends[0]
    }

    private struct NotStarted: Error {
        var code: Int32
    }

    /// Standard output is for events, so the program's goes to standard error.
    private func start(input: Int32, _ environment: [String]) -> Result<pid_t, NotStarted> {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, 2, 1)
        unsafe kazasu_close_from(&actions, 3)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        var child = pid_t()
        var words = unsafe [strdup(path), nil]
        var variables = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer { unsafe (words + variables).forEach { unsafe free($0) } }
        let code = unsafe posix_spawn(&child, path, &actions, &attributes, &words, &variables)
        return code == 0 ? .success(child) : .failure(NotStarted(code: code))
    }

    /// The environment of this process without Kazasu's settings, which may name secrets, and with the event's.
    private static func environment(for event: OutboxEvent) -> [String] {
        var variables: [String] = []
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            let variable = unsafe String(cString: text)
            if !["KAZASU_", "NOTIFY_SOCKET=", "WATCHDOG_", "CREDENTIALS_DIRECTORY="].contains(where: variable.hasPrefix)
            {
                variables.append(variable)
            }
            unsafe entry += 1
        }
        variables += [
            "KAZASU_EVENT_ID=\(event.id)", "KAZASU_EVENT_TYPE=\(event.type)", "KAZASU_EVENT_READER=\(event.reader)",
        ]
        if let tag = event.tag { variables.append("KAZASU_EVENT_TAG=\(tag)") }
        return variables
    }

    /// A running program, which may be killed until its end is known.
    private final class Limits: Sendable {
        private let child: pid_t
        private let state = Mutex((isGone: false, isOver: false))

        init(_ child: pid_t) { self.child = child }

        var isOver: Bool { state.withLock(\.isOver) }

        /// Kills the program, and what it has started.
        func kill(_ signal: Int32) {
            state.withLock { state in
                guard !state.isGone else { return }
                state.isOver = true
                Glibc.kill(-child, signal)
            }
        }

        func wait() -> Int32 {
            var information = unsafe siginfo_t()
            // The number stays taken until the second call, so that no other process can be killed.
            while unsafe waitid(P_PID, id_t(child), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
            state.withLock { $0.isGone = true }
            var status: Int32 = 0
            while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
            return status
        }
    }
}
