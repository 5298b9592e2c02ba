// SPDX-License-Identifier: Apache-2.0

import Glibc
import NFCTransport

/// Ctrl-C and SIGTERM: the first cancels the work, so that the reader is released and what was read is kept;
/// the second ends the process at once.
enum Interrupt {
    /// Cancelled by the first signal.
    static let token = CancellationToken()

    /// Called once, before any other thread exists, so that every thread inherits the blocked signals.
    static func install() {
        signal(SIGPIPE, SIG_IGN)
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        var thread = pthread_t()
        let started = pthread_create(
            &thread, nil,
            { _ in
                var signals = sigset_t()
                sigemptyset(&signals)
                for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
                var number: Int32 = 0
                sigwait(&signals, &number)
                Interrupt.token.cancel()
                sigwait(&signals, &number)
                _exit(ExitStatus.interrupted.rawValue)
            }, nil)
        if started == 0 { pthread_detach(thread) } else { pthread_sigmask(SIG_UNBLOCK, &signals, nil) }
    }
}
