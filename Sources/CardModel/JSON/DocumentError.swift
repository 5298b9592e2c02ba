// SPDX-License-Identifier: Apache-2.0

/// Why a document could not be read. `key` is the path of the value, as in `felica.systems[0].systemCode`.
@nonexhaustive
public enum DocumentError: Error, Hashable, Sendable {
    /// The text is no JSON at all, or ends too early.
    case notJSON(reason: String)
    /// A value that must be there is not.
    case missing(key: String)
    /// A value is of another kind or form than it must be.
    case malformed(key: String, expected: String)
    /// The document is of a schema or version that this program does not read.
    case unknownSchema(found: String, supported: String)
    /// The file is of no format that is known; `found` says what it looks like.
    case unknownFormat(found: String)
    /// The file is of a format that is known, but holds another kind of card, as the format names it.
    case notImported(kind: String)
    /// The document is longer than any card's could be.
    case tooLong(bytes: Int, limit: Int)
    /// A line of a line-oriented document is not what it must be; lines count from 1.
    case malformedLine(line: Int, expected: String)
}
