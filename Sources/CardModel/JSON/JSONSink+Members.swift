// SPDX-License-Identifier: Apache-2.0

public import ByteCodec

extension JSONSink {
    /// A member of an object: its name, then a text that needs no escapes.
    public mutating func member(_ name: StaticString, plain text: some ASCIIText) {
        key(name)
        plain(text)
    }

    /// A member of an object: its name, then a number without fraction.
    public mutating func member(_ name: StaticString, integer value: Int64) {
        key(name)
        integer(value)
    }

    /// A member of an object: its name, then a text.
    public mutating func member(_ name: StaticString, string text: String) {
        key(name)
        string(text)
    }

    /// A member of an object: its name, then `null`.
    public mutating func nullMember(_ name: StaticString) {
        key(name)
        null()
    }

    /// An object with the members that `body` writes.
    @inlinable
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
    @inlinable
    public mutating func member(_ name: StaticString, _ body: (inout Self) -> Void) {
        key(name)
        body(&self)
    }

    /// A text, or `null` when there is none.
    @inlinable
    public mutating func member(_ name: StaticString, _ text: String?) {
        if let text { member(name, string: text) } else { nullMember(name) }
    }

    /// A text that needs no escapes, or `null` when there is none.
    @inlinable
    public mutating func member(_ name: StaticString, _ text: (some ASCIIText)?) {
        if let text { member(name, plain: text) } else { nullMember(name) }
    }

    /// A number, or `null` when there is none.
    @inlinable
    public mutating func member(_ name: StaticString, _ number: (some BinaryInteger)?) {
        if let number { member(name, integer: Int64(clamping: number)) } else { nullMember(name) }
    }

    /// A truth value.
    @inlinable
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
