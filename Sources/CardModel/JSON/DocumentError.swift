// SPDX-License-Identifier: Apache-2.0

/// Why a document could not be read. `key` is the path of the value, as in `felica.systems[0].systemCode`.
@nonexhaustive
package enum DocumentError: Error, Hashable, Sendable {
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

/// What is wrong with a JSON text, and where.
struct JSONError: Error {
    enum Kind {
        case syntax
        case notUTF8
        case tooDeep
        case tooManyValues
        case numberTooLarge
    }

    let kind: Kind
    /// The index of the first byte that no JSON text has there.
    let index: Int

    /// The fault in words, as in `line 3, byte 17: the text ends too early`.
    func reason(in bytes: ArraySlice<UInt8>) -> String {
        let before = bytes[..<min(max(index, bytes.startIndex), bytes.endIndex)]
        let newline = UInt8(ascii: "\n")
        let line = before.count { $0 == newline } + 1
        let start = before.lastIndex(of: newline).map { $0 + 1 } ?? bytes.startIndex
        let place = "line \(line), byte \(before.endIndex - start + 1)"
        return switch kind {
        case .syntax where index >= bytes.endIndex: "\(place): the text ends too early"
        case .syntax: place
        case .notUTF8: "\(place): not UTF-8"
        case .tooDeep: "\(place): nested deeper than \(JSONValue.deepestNesting)"
        case .tooManyValues: "\(place): more than \(JSONValue.mostValues) values"
        case .numberTooLarge: "\(place): the number is too large"
        }
    }
}

/// The way to a value of a document; the text of it is made for errors only.
final class JSONPlace: Sendable {
    private let step: JSONCursor.Step
    private let parent: JSONPlace?

    init(_ step: JSONCursor.Step, in parent: JSONPlace?) {
        self.step = step
        self.parent = parent
    }

    /// As in `felica.systems[0].systemCode`; empty for the whole document.
    var text: String {
        let before = parent?.text ?? ""
        return switch step {
        case .document: ""
        case .member(let key): before.isEmpty ? key : "\(before).\(key)"
        case .element(let index): "\(before)[\(index)]"
        }
    }
}
