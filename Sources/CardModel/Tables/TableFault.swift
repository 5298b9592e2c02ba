// SPDX-License-Identifier: Apache-2.0

/// Why a line of a table is no row.
public struct TableFault: Error, Hashable, Sendable {
    /// The number of the line, from 1.
    public let line: Int
    /// The column, or `nil` when the line as a whole is wrong.
    public let column: String?
    /// What is wrong.
    public let reason: Reason

    /// What is wrong with a line.
    @nonexhaustive
    public enum Reason: String, Hashable, Sendable {
        /// The line is no UTF-8.
        case notUTF8
        /// The first line that is no comment does not name the columns.
        case wrongHeader
        /// The line has more fields than the table has columns.
        case tooManyFields
        /// The table has no such column.
        case noSuchColumn
        /// The field is empty.
        case empty
        /// The field is no number in the base of its column, or one that is too large.
        case notANumber
        /// The field is none of the words of its column.
        case unknownWord
        /// An earlier row has the same key.
        case duplicate
    }

    /// A fault in a line.
    public init(line: Int, column: String? = nil, reason: Reason) {
        self.line = line
        self.column = column
        self.reason = reason
    }
}

extension TableFault: CustomStringConvertible {
    /// As in `line 12, code: notANumber`.
    public var description: String {
        "line \(line)\(column.map { ", \($0)" } ?? ""): \(reason.rawValue)"
    }
}
