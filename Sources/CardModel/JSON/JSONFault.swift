// SPDX-License-Identifier: Apache-2.0

/// What is wrong with a JSON text, and where.
struct JSONFault: Error {
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
