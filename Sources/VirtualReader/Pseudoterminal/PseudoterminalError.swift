// SPDX-License-Identifier: Apache-2.0

/// Why there is no pseudo-terminal, or no link to it.
@nonexhaustive
public enum PseudoterminalError: Error, Hashable, Sendable {
    /// A system call failed; its name and `errno`.
    case failed(call: String, errno: Int32)
    /// Something is already where the link was to be made.
    case linkExists(path: String)
    /// The link could not be made.
    case cannotLink(path: String, errno: Int32)
}
