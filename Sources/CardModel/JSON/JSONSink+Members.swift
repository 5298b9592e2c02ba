// SPDX-License-Identifier: Apache-2.0

public import ByteCodec

extension JSONSink where Self: ~Copyable {
    /// An object with the members that `body` writes.
    @inlinable @inline(__always)
    public mutating func object(_ body: (inout Self) -> Void) {
        beginObject()
        body(&self)
        endObject()
    }

    /// An array with one value, which `body` writes, for each element.
    @inlinable
    public mutating func array<Element>(of elements: [Element], _ body: (inout Self, borrowing Element) -> Void) {
        beginArray()
        // Elements of an array are copied when it is gone through; those of a span are not.
        let elements = elements.span
        for index in elements.indices { body(&self, elements[index]) }
        endArray()
    }

    /// A member whose value `body` writes.
    @inlinable @inline(__always)
    public mutating func member(_ name: StaticString, _ body: (inout Self) -> Void) {
        key(name)
        body(&self)
    }

    /// A text, or `null` when there is none.
    @inlinable @inline(__always)
    public mutating func member(_ name: StaticString, _ text: String?) {
        key(name)
        if let text { string(text) } else { null() }
    }

    /// A text that needs no escapes, or `null` when there is none.
    @inlinable @inline(__always)
    public mutating func member(_ name: StaticString, _ text: (some ASCIIText)?) {
        key(name)
        if let text { plain(text) } else { null() }
    }

    /// A number, or `null` when there is none.
    @inlinable @inline(__always)
    public mutating func member(_ name: StaticString, _ number: (some BinaryInteger)?) {
        key(name)
        if let number { integer(Int64(clamping: number)) } else { null() }
    }

    /// A truth value.
    @inlinable @inline(__always)
    public mutating func member(_ name: StaticString, _ value: Bool) {
        key(name)
        bool(value)
    }

    /// A whole value that was made before.
    public mutating func value(_ value: JSONValue) {
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
    public mutating func members(of object: JSONObject) {
        for member in object.members {
            key(member.key)
            value(member.value)
        }
    }
}
