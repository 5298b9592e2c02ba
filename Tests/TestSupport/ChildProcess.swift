// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// Runs programs for tests: output captured, no input, a hard limit of time.
package enum ChildProcess {
    /// The program could not be started.
    package struct NotStarted: Error {
        /// Which one.
        package let program: String
        /// The reason as `errno`.
        package let code: Int32
    }

    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - program: the path of the program.
    ///   - arguments: what follows the program's name.
    ///   - environment: variables that are added to this process's own, or replaced.
    ///   - limit: after this time the program is killed.
    package static func run(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:],
        limit: Duration = .seconds(120)
    ) throws -> ChildResult {
        let output = try Pipe()
        let errors = try Pipe()
        let child = try start(program, arguments, environment, output, errors)
        output.closeWriter()
        errors.closeWriter()
        let deadline = ContinuousClock.now + limit
        drain([output, errors], until: deadline)
        let end = end(of: child, before: deadline)
        return ChildResult(end: end, output: output.text, errors: errors.text)
    }

    /// Waits for a child and kills it when the time is over: a program can live on after it closed its outputs.
    static func end(of child: pid_t, before deadline: ContinuousClock.Instant) -> ChildResult.End {
        var status: Int32 = 0
        while waitpid(child, &status, WNOHANG) != child {
            guard ContinuousClock.now < deadline else {
                kill(child, SIGKILL)
                while waitpid(child, &status, 0) < 0, errno == EINTR {}
                return .timedOut
            }
            poll(nil, 0, 1)
        }
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
    }

    /// POSIX_SPAWN_SETSID, which Swift's Glibc module does not show.
    private static let ownSession: Int32 = 0x80

    static func start(
        _ program: String, _ arguments: [String], _ environment: [String: String], _ output: Pipe, _ errors: Pipe,
        hasTerminal: Bool = true
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output.writer, 1)
        posix_spawn_file_actions_adddup2(&actions, errors.writer, 2)
        // Ports and files that another test has open: it may wait for the other side to see them closed.
        _ = kazasu_close_from(&actions, 3)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Tests run on threads that block signals, and a child would inherit that.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(Int32(POSIX_SPAWN_SETSIGMASK) | (hasTerminal ? 0 : ownSession)))
        var variables = inheritedEnvironment().filter { !environment.keys.contains(String($0.prefix { $0 != "=" })) }
        variables += environment.map { "\($0.key)=\($0.value)" }
        var child = pid_t()
        func spawn() -> Int32 {
            withCStrings([program] + arguments) { arguments in
                withCStrings(variables) { posix_spawn(&child, program, &actions, &attributes, arguments, $0) }
            }
        }
        var code = spawn()
        // A program that the test has just written is open for writing, too, in a child that another test is starting.
        var attempts = 1
        while code == ETXTBSY, attempts < 2000 {
            poll(nil, 0, 1)
            code = spawn()
            attempts += 1
        }
        guard code == 0 else { throw NotStarted(program: program, code: code) }
        return child
    }

    private static func inheritedEnvironment() -> [String] {
        var variables: [String] = []
        var entry = environ
        while let variable = entry.pointee {
            variables.append(String(cString: variable))
            entry += 1
        }
        return variables
    }

    private static func withCStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { copies.forEach { free($0) } }
        return body(copies + [nil])
    }

    /// Reads until every pipe is at its end or the time is over.
    static func drain(_ pipes: [Pipe], until deadline: ContinuousClock.Instant) {
        while pipes.contains(where: { !$0.isAtEnd }) {
            let left = (deadline - .now) / .milliseconds(1)
            guard left > 0 else { return }
            var descriptors = pipes.map { pollfd(fd: $0.isAtEnd ? -1 : $0.reader, events: Int16(POLLIN), revents: 0) }
            poll(&descriptors, nfds_t(descriptors.count), Int32(clamping: Int(left.rounded(.up))))
            for (descriptor, pipe) in zip(descriptors, pipes) where descriptor.revents != 0 { pipe.read() }
        }
    }
}
