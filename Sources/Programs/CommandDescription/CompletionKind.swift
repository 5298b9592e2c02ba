// SPDX-License-Identifier: Apache-2.0

/// What a shell completes in place of a value.
public enum CompletionKind: Sendable {
    /// Nothing.
    case `default`
    /// One of these.
    case list([String])
    /// A file or a folder.
    case file
    /// A folder.
    case directory
    /// What a function finds: the words of the command line, the index of the one to complete, and its part before the
    /// cursor.
    case custom(@Sendable (_ words: [String], _ index: Int, _ prefix: String) -> [String])

    /// A file or a folder.
    public static func file() -> Self { .file }
}
