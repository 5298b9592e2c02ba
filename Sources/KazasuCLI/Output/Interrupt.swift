// SPDX-License-Identifier: Apache-2.0

import Glibc
import NFCTransport

/// Ctrl-C and SIGTERM: the first cancels the work, so that the reader is released and what was read is kept;
/// the second ends the process at once. Ctrl-\ and other signals that end a process do that at once, too, but not before
/// temporary files are gone and the terminal is as it was.
enum Interrupt {
    /// Cancelled by the first signal.
    static let token = CancellationToken()

    /// What cancels the work.
    private static let cancelling = [SIGINT, SIGTERM, SIGHUP]
    /// What ends the process at once.
    private static let fatal = [
        SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGIO, SIGPWR, SIGSTKFLT,
    ]

    /// Called once, before any other thread exists, so that every thread inherits the blocked signals.
    static func install() {
        signal(SIGPIPE, SIG_IGN)
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

    /// The thread that takes all signals.
    private static func serve() {
        next()
        token.cancel()
        next()
        ExitCleanup.run()
        _exit(ExitStatus.interrupted.rawValue)
    }

    /// Waits for a signal that cancels.
    private static func next() {
        var signals = set(cancelling + fatal)
        var number: Int32 = 0
        sigwait(&signals, &number)
        if fatal.contains(number) { end(by: number) }
    }

    /// Ends the process by this signal, so that the shell sees which it was.
    private static func end(by number: Int32) {
        ExitCleanup.run()
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
}
