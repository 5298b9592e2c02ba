// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A child process that a test talks with while it runs: lines are waited for, never time.
package final class RunningChild {
    /// What the child writes to.
    package enum Stream: Sendable {
        /// Standard output.
        case output
        /// Standard error.
        case errors
    }

    /// A line did not come in time.
    package struct TookTooLong: Error {
        /// What had come till then.
        package let output: String
        /// What had come on standard error.
        package let errors: String
    }

    /// Its process ID.
    package var process: Int32 { child }

    private let child: pid_t
    private let output: Pipe
    private let errors: Pipe
    private let deadline: ContinuousClock.Instant
    private var taken: [Stream: Int] = [:]
    private var isOver = false

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - limit: after this time it is killed.
    ///   - pipeSize: how far the child may write ahead of the test.
    ///   - hasTerminal: whether it keeps the terminal of the tests, if they have one; a daemon has none.
    package init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:],
        limit: Duration = .seconds(60), pipeSize: Int? = nil, hasTerminal: Bool = true
    ) throws {
        output = try Pipe(size: pipeSize)
        errors = try Pipe(size: pipeSize)
        child = try ChildProcess.start(program, arguments, environment, output, errors, hasTerminal: hasTerminal)
        output.closeWriter()
        errors.closeWriter()
        deadline = .now + limit
    }

    /// The next line that the child writes; `nil` when it has closed the stream.
    package func line(of stream: Stream) throws -> String? {
        let start = taken[stream, default: 0]
        return try first(of: stream) { pipe in
            pipe.line(from: start).map { line in
                taken[stream] = start + line.utf8.count + 1
                return line
            }
        }
    }

    /// Whether the child has written a text, be the line whole or not; waits until it has, or has closed the stream.
    package func writes(_ text: String, to stream: Stream) throws -> Bool {
        try first(of: stream) { $0.text.contains(text) ? true : nil } ?? false
    }

    /// Reads until there is what is looked for; `nil` when the child has closed the stream before.
    private func first<Found>(of stream: Stream, _ find: (Pipe) -> Found?) throws -> Found? {
        let pipe = stream == .output ? output : errors
        while true {
            if let found = find(pipe) { return found }
            if pipe.isAtEnd { return nil }
            guard pipe.wait(until: deadline) else { throw TookTooLong(output: output.text, errors: errors.text) }
            pipe.read()
        }
    }

    /// Sends it a signal.
    package func send(_ signal: Int32) {
        kill(child, signal)
    }

    /// Reads its output no more, as `head` does when it has enough.
    package func closeOutput() {
        output.closeReader()
    }

    /// Waits for its end without reading what it writes, so that it may be waiting for a reader.
    package func end() -> ChildResult.End {
        let end = ChildProcess.end(of: child, before: deadline)
        isOver = true
        return end
    }

    /// Waits for its end.
    package func finish() -> ChildResult {
        ChildProcess.drain([output, errors], until: deadline)
        let end = ChildProcess.end(of: child, before: deadline)
        isOver = true
        return ChildResult(end: end, output: output.text, errors: errors.text)
    }

    deinit {
        guard !isOver else { return }
        kill(child, SIGKILL)
        _ = ChildProcess.end(of: child, before: deadline)
    }
}

extension Pipe {
    /// Waits until there is something to read; `false` when the time is over.
    fileprivate func wait(until deadline: ContinuousClock.Instant) -> Bool {
        let left = (deadline - .now) / .milliseconds(1)
        guard left > 0 else { return false }
        var query = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        return poll(&query, 1, Int32(clamping: Int(left.rounded(.up)))) > 0
    }
}
