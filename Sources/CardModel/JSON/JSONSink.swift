// SPDX-License-Identifier: Apache-2.0

package import ByteCodec

/// Takes a JSON value part by part, in the order of its text.
///
/// A document is described once, as calls to a sink. ``JSONWriter`` makes bytes of them at once, for very many documents;
/// ``JSONTreeBuilder`` makes a ``JSONValue``. In an object each value follows its key. What is written out of turn makes
/// no valid text, but traps nowhere.
package protocol JSONSink: ~Copyable {
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

extension JSONSink where Self: ~Copyable {
    /// An object with the members that `body` writes.
    @inline(__always)
    package mutating func object(_ body: (inout Self) -> Void) {
        beginObject()
        body(&self)
        endObject()
    }

    /// An array with one value, which `body` writes, for each element.
    package mutating func array<Element>(of elements: [Element], _ body: (inout Self, borrowing Element) -> Void) {
        beginArray()
        // Elements of an array are copied when it is gone through; those of a span are not.
        let elements = elements.span
        for index in elements.indices { body(&self, elements[index]) }
        endArray()
    }

    /// A member whose value `body` writes.
    @inline(__always)
    package mutating func member(_ name: StaticString, _ body: (inout Self) -> Void) {
        key(name)
        body(&self)
    }

    /// A text, or `null` when there is none.
    @inline(__always)
    package mutating func member(_ name: StaticString, _ text: String?) {
        key(name)
        if let text { string(text) } else { null() }
    }

    /// A text that needs no escapes, or `null` when there is none.
    @inline(__always)
    package mutating func member(_ name: StaticString, _ text: (some ASCIIText)?) {
        key(name)
        if let text { plain(text) } else { null() }
    }

    /// A number, or `null` when there is none.
    @inline(__always)
    package mutating func member(_ name: StaticString, _ number: (some BinaryInteger)?) {
        key(name)
        if let number { integer(Int64(clamping: number)) } else { null() }
    }

    /// A truth value.
    @inline(__always)
    package mutating func member(_ name: StaticString, _ value: Bool) {
        key(name)
        bool(value)
    }

    /// A whole value that was made before.
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

    /// The members of an object that was made before, among those of the object that is being written.
    package mutating func members(of object: JSONObject) {
        for member in object.members {
            key(member.key)
            value(member.value)
        }
    }
}
