// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The `kazasu` program, for the executable's main file.
public enum Program {
    /// Runs the command line of the process and ends it with the status of the contract.
    public static func start() -> Never {
        StandardStreams.openClosedOnes()
        Interrupt.install()
        exit(Kazasu.run(Array(CommandLine.arguments.dropFirst())))
    }
}
