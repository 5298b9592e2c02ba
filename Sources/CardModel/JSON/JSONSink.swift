// SPDX-License-Identifier: Apache-2.0

public import ByteCodec

/// Takes a JSON value part by part, in the order of its text.
///
/// A document is described once, as calls to a sink. ``JSONWriter`` makes bytes of them at once, for very many documents;
/// ``JSONTreeBuilder`` makes a ``JSONValue``. In an object each value follows its key. What is written out of turn makes
/// no valid text, but traps nowhere.
public protocol JSONSink: ~Copyable {
    /// `{`
    mutating func beginObject()
    /// `}`
    mutating func endObject()
    /// `[`
    mutating func beginArray()
    /// `]`
    mutating func endArray()
    /// The name of the next value; its characters need no escapes.
    mutating func key(_ name: StaticString)
    /// The name of the next value.
    mutating func key(_ name: String)
    /// `null`
    mutating func null()
    /// `true` or `false`
    mutating func bool(_ value: Bool)
    /// A number without fraction.
    mutating func integer(_ value: Int64)
    /// Any other number; one that JSON does not have becomes `null`.
    mutating func number(_ value: Double)
    /// A text.
    mutating func string(_ text: String)
    /// A text that needs no escapes.
    mutating func plain(_ text: some ASCIIText)
}
