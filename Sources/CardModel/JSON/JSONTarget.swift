// SPDX-License-Identifier: Apache-2.0

/// What a ``JSONParser`` tells of a text, part by part: its grammar is there once, whatever is made of it.
protocol JSONTarget {
    mutating func beginObject()
    mutating func endObject()
    mutating func beginArray()
    mutating func endArray()
    /// A name or a text without escapes, by its place in the text; it is UTF-8.
    mutating func plainText(_ range: Range<Int>, in bytes: ArraySlice<UInt8>, isKey: Bool)
    /// A name or a text that had escapes.
    mutating func text(_ text: String, isKey: Bool)
    /// A number, `true`, `false` or `null`.
    mutating func scalar(_ value: JSONValue)
}
