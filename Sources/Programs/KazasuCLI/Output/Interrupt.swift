// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
package import Kazasu
import Synchronization

/// SIGINT (Ctrl-C), SIGTERM and SIGHUP.
///
/// The first one ends the process immediately, no matter what it waits for or computes, unless something is held that
/// must be released: an open reader, a terminal without echo. Then it cancels ``token``, and the work ends by itself.
/// A repeat within a second changes nothing, since `timeout` of coreutils signals twice; a later one ends the process
/// immediately. So does ``longestEnd``, whatever hangs: a driver, a file on a server that is gone.
///
/// Ctrl-\ and other signals that end a process do that immediately, too, but not before temporary files are removed
/// and the terminal is restored.
package enum Interrupt {
    /// Cancelled by the first signal while something is held.
    package static let token = CancellationToken()

    private struct State {
        var holds = 0
        var signal: Int32?
        var isEnding = false
        var onHangup: (@Sendable () -> Void)?
        var onRepeat: (@Sendable () -> Void)?
    }

    private static let state = Mutex(State())
    /// Whether the process was started so that a hangup does not end it, as by `nohup`. Read by ``install()`` first.
    private static let ignoresHangup: Bool = {
        var action = sigaction()
        return sigaction(SIGHUP, nil, &action) == 0
            && unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == Self.ignored
    }()
    /// The value of `SIG_IGN`.
    private static let ignored = 1
    private static let repeatTime = Duration.seconds(1)
    /// How long the work may take to end. One with a handler of ``onRepeat(_:)`` has limits of its own.
    private static let longestEnd = Duration.seconds(15)
    private static let longestCleanup = Duration.seconds(2)

    /// A pipe whose reading end becomes readable on the first signal; -1 when there is none.
    private static let pipe: (reader: Int32, writer: Int32) = {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { return (-1, -1) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }()

    /// Readable once a signal has arrived, for `poll`; -1, which `poll` ignores, when no descriptor was available.
    package static var descriptor: Int32 { pipe.reader }

    /// The exit status of an interrupted command.
    package static var status: ExitStatus { state.withLock { $0.signal == SIGTERM ? .terminated : .interrupted } }

    /// Whether a signal cancels the work instead of ending the process.
    package static var isHeld: Bool { state.withLock { $0.holds > 0 } }

    /// The signals that cancel the work.
    private static let cancelling = [SIGINT, SIGTERM, SIGHUP]
    /// The signals that end the process immediately.
    private static let fatal = [
        SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGIO, SIGPWR, SIGSTKFLT,
    ]

    /// Installs the handling. Called once, before any other thread exists, so that every thread inherits the blocked
    /// signals.
    package static func install() {
        signal(SIGPIPE, SIG_IGN)
        _ = (descriptor, ignoresHangup)
        token.onCancel {
            var byte: UInt8 = 0
            _ = write(pipe.writer, &byte, 1)
        }
        mask(SIG_BLOCK, cancelling + fatal)
        var thread = pthread_t()
        let started = pthread_create(
            &thread, nil,
            { _ in
                Interrupt.serve()
                return nil
            }, nil)
        if started == 0 { pthread_detach(thread) } else { mask(SIG_UNBLOCK, cancelling + fatal) }
    }

    /// Makes SIGHUP call a handler, quickly, instead of cancelling, where it cannot mean that a terminal hung up: in a
    /// process without a terminal, or one that was started to survive its own.
    package static func onHangup(_ handler: @escaping @Sendable () -> Void) {
        guard ignoresHangup || !hasTerminal else { return }
        state.withLock { $0.onHangup = handler }
    }

    /// Whether the process has a controlling terminal.
    private static var hasTerminal: Bool {
        let terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { return false }
        close(terminal)
        return true
    }

    /// Makes the second signal call a handler, quickly, for work that waits although it was cancelled; a third one ends
    /// the process.
    package static func onRepeat(_ handler: @escaping @Sendable () -> Void) {
        state.withLock { $0.onRepeat = handler }
    }

    /// Waits for a signal that cancels.
    ///
    /// - Parameter deadline: how long, unless a handler of ``onRepeat(_:)`` is set by then.
    /// - Returns: `nil` if none came.
    private static func next(until deadline: ContinuousClock.Instant? = nil) -> Int32? {
        var signals = set(cancelling + fatal)
        while true {
            var number: Int32 = 0
            if let deadline, state.withLock({ $0.onRepeat == nil }) {
                let left = deadline - .now
                guard left > .zero else { return nil }
                var time = timespec(left)
                number = sigtimedwait(&signals, nil, &time)
                if number < 0 { continue }
            } else {
                sigwait(&signals, &number)
            }
            if fatal.contains(number) { end(by: number) }
            guard number == SIGHUP else { return number }
            if let handler = state.withLock(\.onHangup) {
                handler()
            } else if !ignoresHangup {
                return number
            }
        }
    }

    /// Ends the process by this signal, so that the shell sees which one it was.
    private static func end(by number: Int32) {
        cleanUp()
        signal(number, SIG_DFL)
        mask(SIG_UNBLOCK, [number])
        raise(number)
    }

    private static func mask(_ how: Int32, _ numbers: [Int32]) {
        var signals = set(numbers)
        pthread_sigmask(how, &signals, nil)
    }

    private static func set(_ numbers: [Int32]) -> sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in numbers { sigaddset(&signals, number) }
        return signals
    }

    /// Makes a signal cancel the work instead of ending the process, until ``release()``. Anything that waits meanwhile
    /// must observe ``token`` or ``descriptor``.
    package static func hold() {
        let isEnding = state.withLock { state in
            state.holds += 1
            return state.isEnding
        }
        while isEnding { Glibc.pause() }
    }

    /// Ends the hold; a signal that came meanwhile ends the process now.
    package static func release() {
        let endsNow = state.withLock { state in
            state.holds -= 1
            guard state.holds == 0, state.signal != nil, !state.isEnding else { return false }
            state.isEnding = true
            return true
        }
        if endsNow { end() }
    }

    private static func serve() {
        guard let number = next() else { return }
        let endsNow = state.withLock { state in
            state.signal = number
            state.isEnding = state.holds == 0
            return state.isEnding
        }
        if endsNow { end() }
        let deadline = ContinuousClock.now + longestEnd
        // A handler may hang.
        BlockingWork.start { token.cancel() }
        discardRepeats()
        _ = next(until: deadline)
        if let handler = state.withLock(\.onRepeat) {
            handler()
            discardRepeats()
            _ = next()
        }
        end()
    }

    /// Discards signals that arrive within ``repeatTime``, and those that arrived while this thread did not run.
    private static func discardRepeats() {
        var signals = set(cancelling + fatal)
        let deadline = ContinuousClock.now + repeatTime
        while true {
            var time = timespec(max(deadline - .now, .zero))
            let number = sigtimedwait(&signals, nil, &time)
            if fatal.contains(number) { end(by: number) }
            if number < 0, errno == EAGAIN { return }
        }
    }

    /// Removes temporary files and restores the terminal, in bounded time.
    private static func cleanUp() {
        _ = BoundedCalls.run(within: longestCleanup) { ExitCleanup.run() }
    }

    private static func end() -> Never {
        cleanUp()
        // Do not block on a message that nobody reads.
        var place = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        if poll(&place, 1, 0) > 0 { RootCommand.tell(.cancelled()) }
        _exit(status.rawValue)
    }
}

extension timespec {
    fileprivate init(_ time: Duration) {
        let (seconds, attoseconds) = time.components
        self.init(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    }
}

/// A one-shot latch: one thread waits until another opens it.
package final class Latch: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    package init() {}

    package func open() { semaphore.signal() }
    package func wait() { semaphore.wait() }
}
