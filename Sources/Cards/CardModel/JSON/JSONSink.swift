// SPDX-License-Identifier: Apache-2.0

public import ByteCodec

/// Receives a JSON value part by part, in the order of its text.
///
/// A document is described once, as calls to a sink. ``JSONWriter`` turns them directly into bytes, for very many
/// documents; ``JSONTreeBuilder`` builds a ``JSONValue``. In an object, each value follows its key. Calls out of order
/// produce invalid text, but never trap.
@usableFromInline
package protocol JSONSink: ~Copyable {
    /// `{`
    mutating func beginObject()
    /// `}`
    mutating func endObject()
    /// `[`
    mutating func beginArray()
    /// `]`
    mutating func endArray()
    /// Writes the name of the next value; its characters need no escapes.
    mutating func key(_ name: StaticString)
    /// Writes the name of the next value.
    mutating func key(_ name: String)
    /// `null`
    mutating func null()
    /// `true` or `false`
    mutating func bool(_ value: Bool)
    /// Writes an integer.
    mutating func integer(_ value: Int64)
    /// Writes any other number; one that JSON cannot represent becomes `null`.
    mutating func number(_ value: Double)
    /// Writes a string.
    mutating func string(_ text: String)
    /// Writes a string that needs no escapes.
    mutating func plain(_ text: some ASCIIText)
}

extension JSONSink where Self: ~Copyable {
    /// Writes an object with the members that `body` writes.
    @inlinable @inline(__always)
    package mutating func object(_ body: (inout Self) -> Void) {
        beginObject()
        body(&self)
        endObject()
    }

    /// Writes an array with one value per element, written by `body`.
    @inlinable
    package mutating func array<Element>(of elements: [Element], _ body: (inout Self, borrowing Element) -> Void) {
        beginArray()
        // Iterating over an array copies its elements; iterating over a span does not.
        let elements = elements.span
        for index in elements.indices { body(&self, elements[index]) }
        endArray()
    }

    /// Writes a member whose value `body` writes.
    @inlinable @inline(__always)
    package mutating func member(_ name: StaticString, _ body: (inout Self) -> Void) {
        key(name)
        body(&self)
    }

    /// Writes a string member, or `null` for `nil`.
    @inlinable @inline(__always)
    package mutating func member(_ name: StaticString, _ text: String?) {
        key(name)
        if let text { string(text) } else { null() }
    }

    /// Writes a string member that needs no escapes, or `null` for `nil`.
    @inlinable @inline(__always)
    package mutating func member(_ name: StaticString, _ text: (some ASCIIText)?) {
        key(name)
        if let text { plain(text) } else { null() }
    }

    /// Writes a number member, or `null` for `nil`.
    @inlinable @inline(__always)
    package mutating func member(_ name: StaticString, _ number: (some BinaryInteger)?) {
        key(name)
        if let number { integer(Int64(clamping: number)) } else { null() }
    }

    /// Writes a Boolean member.
    @inlinable @inline(__always)
    package mutating func member(_ name: StaticString, _ value: Bool) {
        key(name)
        bool(value)
    }

    /// Writes a complete, existing value.
    package mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let value): bool(value)
        case .integer(let value): integer(value)
        case .number(let value): number(value)
        case .string(let text): string(text)
        case .array(let values): array(of: values) { $0.value($1) }
        case .object(let object): self.object { $0.members(of: object) }
        }
    }

    /// Writes the members of an existing object among those of the object being written.
    package mutating func members(of object: JSONObject) {
        for member in object.members {
            key(member.key)
            value(member.value)
        }
    }
}
