// SPDX-License-Identifier: Apache-2.0

/// What a child process did.
package struct ChildResult: Hashable, Sendable {
    /// How it ended.
    package enum End: Hashable, Sendable {
        /// By itself, with this status.
        case exited(Int32)
        /// By this signal.
        case signalled(Int32)
        /// It was killed because its time was over.
        case timedOut
    }

    /// How it ended.
    package var end: End
    /// What it wrote to its standard output; bytes that are not UTF-8 are replaced.
    package var output: String
    /// What it wrote to its standard error.
    package var errors: String
}
