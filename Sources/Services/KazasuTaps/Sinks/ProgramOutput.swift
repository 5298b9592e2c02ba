// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Dispatch
internal import Glibc
internal import Synchronization

/// What programs print: it goes to standard error, up to a limit for each run, so that a chatty program does not fill the disk of
/// the log. What is left out is marked by `[…]`. A log that nobody reads loses lines; it holds up no program.
final class ProgramOutput: Sendable {
    static let shared = ProgramOutput(to: STDERR_FILENO)

    /// How many bytes of one run are passed on.
    static let most = 16 << 10
    /// What replaces the rest.
    static let mark = "\n[…]\n"

    fileprivate struct Source {
        /// How many more bytes are passed on.
        var left = ProgramOutput.most
    }

    private struct State {
        /// By the ends that are read.
        var sources: [Int32: Source] = [:]
        var isRunning = false
    }

    private let output: Int32
    private let state = Mutex(State())
    /// Interrupts the thread that waits, when there is one more to wait for.
    private let (wakeEnd, wake): (Int32, Int32)

    /// - Parameter output: where it goes.
    init(to output: Int32) {
        self.output = output
        (wakeEnd, wake) = Self.pipe() ?? (-1, -1)
    }

    /// A pipe whose ends no program inherits, and which is read without waiting.
    private static func pipe() -> (read: Int32, write: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard unsafe kazasu_pipe(&ends, O_CLOEXEC) == 0 else { return nil }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        return (ends[0], ends[1])
    }

    /// One run of a program.
    struct Run: Sendable {
        /// What the program gets as its standard output and error.
        let descriptor: Int32
        fileprivate let source: Int32
    }

    /// Begins a run; `nil` if no more files can be opened.
    func begin() -> Run? {
        guard let (source, descriptor) = Self.pipe() else { return nil }
        let isFirst = state.withLock { state in
            state.sources[source] = Source()
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isFirst { DispatchQueue(label: "kazasu.program-output").async { self.relay() } }
        wakeUp()
        return Run(descriptor: descriptor, source: source)
    }

    /// The program was started, or could not be: only it has the other end now.
    func started(_ run: Run) { close(run.descriptor) }

    /// The program has ended: passes on what it left. What it has started may go on to print.
    func ended(_ run: Run) { passOn(run.source) }

    private func wakeUp() {
        let byte: [UInt8] = [0]
        _ = unsafe write(wake, byte, 1)
    }

    /// Passes on what programs print, for as long as this process runs.
    private func relay() {
        while true {
            let sources = state.withLock { Array($0.sources.keys) }
            var waiting = ([wakeEnd] + sources).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard unsafe poll(&waiting, nfds_t(waiting.count), -1) > 0 else { continue }
            var bytes = [UInt8](repeating: 0, count: 64)
            if waiting[0].revents != 0 { while unsafe read(wakeEnd, &bytes, bytes.count) == bytes.count {} }
            for entry in waiting.dropFirst() where entry.revents != 0 { passOn(entry.fd) }
        }
    }

    /// Passes on what is there.
    private func passOn(_ source: Int32) {
        state.withLock { state in
            guard var entry = state.sources[source] else { return }
            var bytes = [UInt8](repeating: 0, count: 4096)
            // So much at once, lest one program keep the others waiting.
            for _ in 0..<64 {
                let count = unsafe read(source, &bytes, bytes.count)
                if count > 0 {
                    entry.pass(bytes[..<count], to: output)
                } else if count == 0 {
                    close(source)
                    state.sources[source] = nil
                    return
                } else if errno != EINTR {
                    break
                }
            }
            state.sources[source] = entry
        }
    }
}

extension ProgramOutput.Source {
    fileprivate mutating func pass(_ bytes: ArraySlice<UInt8>, to output: Int32) {
        guard left > 0 else { return }
        let part = Array(bytes.prefix(left))
        left -= part.count
        Self.write(part, to: output)
        if left == 0 { Self.write(Array(ProgramOutput.mark.utf8), to: output) }
    }

    /// A pipe that can be written takes 4,096 bytes without waiting.
    private static func write(_ bytes: [UInt8], to output: Int32) {
        var file = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&file, 1, 0) > 0 else { return }
        _ = unsafe Glibc.write(output, bytes, bytes.count)
    }
}
