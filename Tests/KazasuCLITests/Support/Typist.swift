// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// A user at a terminal: a pseudo-terminal in Python, which waits for a text and then types an answer.
enum Typist {
    private static let program = """
        import os, pty, signal, sys, termios
        pid, master = pty.fork()
        if pid == 0:
            os.execv(sys.argv[1], sys.argv[1:sys.argv.index("--typist")])
        seen = b""
        # What was seen until then tells where the program hangs.
        def give_up(*_):
            os.kill(pid, signal.SIGKILL)
            sys.stdout.buffer.write(seen + b"[no end]")
            sys.stdout.flush()
            os._exit(124)
        signal.signal(signal.SIGALRM, give_up)
        signal.alarm(290)
        for pair in sys.argv[sys.argv.index("--typist") + 1:]:
            prompt, answer = pair.encode().split(b"=", 1)
            start = len(seen)
            while prompt not in seen[start:]:
                try:
                    piece = os.read(master, 1024)
                except OSError:
                    piece = b""
                if not piece:
                    break
                seen += piece
            os.write(master, {b"^C": b"\\x03", b"^\\\\": b"\\x1c"}.get(answer, answer + b"\\n"))
        while True:
            try:
                piece = os.read(master, 1024)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        sys.stdout.buffer.write(seen)
        if any(answer.endswith("=^\\\\") for answer in sys.argv) and termios.tcgetattr(master)[3] & termios.ECHO:
            sys.stdout.write("[echo]")
        sys.stdout.flush()
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """

    /// Runs a command line on a terminal.
    ///
    /// - Parameter answers: what is waited for, `=`, and what is typed then; `^C` is the interrupt key, and `^\\` the quit
    ///   key, after which the output ends with `[echo]` when the terminal shows again what is typed.
    static func run(_ arguments: [String], typing answers: [String]) throws -> ChildResult {
        try run([Kazasu.path] + arguments, typing: answers, environment: [:])
    }

    /// Runs any program on a terminal.
    static func run(
        _ command: [String], typing answers: [String], environment: [String: String]
    ) throws -> ChildResult {
        try ChildProcess.run(
            "/usr/bin/env", ["python3", "-c", program] + command + ["--typist"] + answers,
            environment: Kazasu.environment.merging(environment) { $1 }, limit: .seconds(300))
    }
}
