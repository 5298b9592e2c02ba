// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
internal import ReaderCore
internal import Synchronization
internal import SystemPackage

/// `--exec PATH`: a program for each card that comes, without a shell and without arguments.
///
/// It does not run for other events unless it is told to: a program that opens a door must not run because a reader was
/// plugged in.
public final class ExecSink: Sink {
    /// The key of its queue.
    public let name: String
    /// How many events it takes at a time.
    public let window = 1
    /// How often an event is tried again.
    public let retries: Int? = 5

    private let path: String
    private let types: Set<TapEvent.EventType>
    /// Whether a card must have a tag.
    private let needsTag: Bool
    private let timeout: Duration
    /// How long a program has between SIGTERM and SIGKILL.
    private let grace: Duration

    /// - Parameters:
    ///   - path: where the program is. The sink is known by its absolute path: the same name in another folder is another
    ///     program.
    ///   - types: the events that it runs for. The others count as delivered.
    ///   - timeout: how long the program may run.
    ///   - grace: how long it may take to end after SIGTERM, before SIGKILL.
    public convenience init(
        _ path: String, types: Set<TapEvent.EventType> = [.on], timeout: Duration = .seconds(30),
        grace: Duration = .seconds(2)
    ) {
        self.init(path, types: types, needsTag: false, timeout: timeout, grace: grace)
    }

    /// - Parameter needsTag: whether it runs only for cards that have a tag, as those that did not prove their key have none.
    package init(
        _ path: String, types: Set<TapEvent.EventType>, needsTag: Bool, timeout: Duration,
        grace: Duration = .seconds(2)
    ) {
        (self.path, self.types, self.needsTag) = (Self.absolute(path), types, needsTag)
        (self.timeout, self.grace) = (timeout, grace)
        name = "exec:" + self.path
    }

    private func wants(_ event: StoredEvent) -> Bool {
        guard types.contains(event.kind.type) else { return false }
        return !needsTag || event.card.map { $0.tag != nil } ?? true
    }

    private static func absolute(_ path: String) -> String {
        let path = FilePath(path)
        let folder = path.isAbsolute ? nil : unsafe getcwd(nil, 0)
        defer { unsafe free(folder) }
        let whole = unsafe folder.map { unsafe FilePath(platformString: $0).pushing(path) } ?? path
        return whole.lexicallyNormalized().string
    }

    /// Why a program cannot run.
    package enum Obstacle: Hashable, Sendable {
        /// The path is that of a program, followed by arguments.
        case arguments(program: String)
        case unreadable(errno: Int32)
        case folder
        case notExecutable
    }

    /// Why the program cannot run; `nil` if there is no known reason.
    package var obstacle: Obstacle? { Self.obstacle(path) }

    private static func obstacle(_ path: String) -> Obstacle? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            let error = errno
            for space in path.indices where path[space] == " " {
                let program = String(path[..<space])
                if unsafe stat(program, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
                    return .arguments(program: program)
                }
            }
            return .unreadable(errno: error)
        }
        if status.st_mode & S_IFMT == S_IFDIR { return .folder }
        return unsafe access(path, X_OK) == 0 ? nil : .notExecutable
    }

    /// How a program ended.
    enum End: Hashable, Sendable {
        /// With this status.
        case status(Int)
        /// It was not started, or it was killed: `timeout`, `signal11`, `errno2` and so on.
        case failed(String)
    }

    /// Runs the program once for an event.
    func outcome(of event: StoredEvent) async -> End {
        let limits = Limits()
        return await withTaskCancellationHandler {
            await BlockingWork.run { self.run(event, limits) }
        } onCancel: {
            end(limits, "cancelled")
        }
    }

    /// Delivers events of one reader, oldest first.
    public func deliver(_ events: [StoredEvent]) async -> [DeliveryResult] {
        await DeliveryResult.inOrder(events) { event in
            guard wants(event) else { return .delivered }
            return switch await outcome(of: event) {
            case .status(0): .delivered
            case .status(let code): .retry("exit\(code)")
            case .failed(let reason): .retry(reason)
            }
        }
    }

    /// Releases what it holds.
    public func close() async {}

    /// Asks the program to end, and kills it if it does not.
    private func end(_ limits: Limits, _ reason: String) {
        limits.kill(SIGTERM, reason)
        Task.after(grace) { limits.kill(SIGKILL, reason) }
    }

    /// Runs the program to its end.
    private func run(_ event: StoredEvent, _ limits: Limits) -> End {
        let body = Array((event.line + "\n").utf8)
        guard let input = Self.pipe(with: body) else { return .failed("errno\(errno)") }
        defer { Glibc.close(input) }
        guard let output = ProgramOutput.shared.begin() else { return .failed("errno\(errno)") }
        let child: pid_t
        let start = start(input: input, output: output.descriptor, Self.environment(for: event))
        ProgramOutput.shared.started(output)
        switch start {
        case .success(let process): child = process
        // The program is there, so the one in its first line is not.
        case .failure(NotStarted(code: ENOENT)) where unsafe access(path, F_OK) == 0: return .failed("noInterpreter")
        case .failure(let error): return .failed("errno\(error.code)")
        }
        if limits.begin(child) { end(limits, "cancelled") }
        let timer = Task.after(timeout) { self.end(limits, "timeout") }
        defer { timer.cancel() }
        let status = limits.wait()
        ProgramOutput.shared.ended(output)
        if let reason = limits.reason { return .failed(reason) }
        let signal = status & 0x7F
        return signal != 0 ? .failed("signal\(signal)") : .status(Int(status >> 8 & 0xFF))
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

    private struct NotStarted: Error, Equatable {
        var code: Int32
    }

    /// Standard output is for events, so the program's goes to standard error.
    private func start(input: Int32, output: Int32, _ environment: [String]) -> Result<pid_t, NotStarted> {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
        for number in [1, 2] as [Int32] { unsafe posix_spawn_file_actions_adddup2(&actions, output, number) }
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
    private static func environment(for event: StoredEvent) -> [String] {
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
            "KAZASU_EVENT_ID=\(event.id)", "KAZASU_EVENT_TYPE=\(event.kind.word)",
            "KAZASU_EVENT_READER=\(event.reader)",
        ]
        if let tag = event.card?.tag { variables.append("KAZASU_EVENT_TAG=\(tag)") }
        if let name = event.card?.name { variables.append("KAZASU_EVENT_NAME=\(name)") }
        return variables
    }

    /// A running program, which can be killed until it has been waited for.
    private final class Limits: Sendable {
        private struct State {
            var child: pid_t?
            var isGone = false
            /// Why it was killed.
            var reason: String?
        }

        private let state = Mutex(State())

        var reason: String? { state.withLock(\.reason) }

        /// - Returns: whether it should have been killed already.
        func begin(_ child: pid_t) -> Bool {
            state.withLock { state in
                state.child = child
                return state.reason != nil
            }
        }

        /// Kills the program, and what it has started.
        func kill(_ signal: Int32, _ reason: String) {
            state.withLock { state in
                guard !state.isGone else { return }
                state.reason = state.reason ?? reason
                if let child = state.child { Glibc.kill(-child, signal) }
            }
        }

        func wait() -> Int32 {
            guard let child = state.withLock(\.child) else { return 0 }
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
