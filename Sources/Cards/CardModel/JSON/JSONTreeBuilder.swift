// SPDX-License-Identifier: Apache-2.0

package import ByteCodec

/// Builds a ``JSONValue`` from what is written.
package struct JSONTreeBuilder: JSONSink {
    /// The open arrays and objects, outermost first, each with the name of its next value.
    private var open: [(container: Container, key: String)] = []
    private var whole: JSONValue = .null
    private let isReplacing: Bool

    private enum Container {
        case array([JSONValue])
        case object(JSONObject.Builder)
    }

    /// Makes an empty builder. Of a duplicate name, the last value counts, in the first position.
    package init() {
        isReplacing = true
    }

    /// Makes a builder for reading: of a duplicate name, the first value counts.
    init(firstCounts: ()) {
        isReplacing = false
    }

    /// The value that was written; `null` before the end of the outermost array or object.
    package var value: JSONValue { whole }

    mutating func add(_ value: JSONValue) {
        // Popped first, so that the container is not copied when it is extended.
        guard let (container, key) = open.popLast() else {
            whole = value
            return
        }
        switch consume container {
        case .array(var values):
            values.append(value)
            open.append((.array(values), ""))
        case .object(var builder):
            builder.add(key, value, replacing: isReplacing)
            open.append((.object(builder), ""))
        }
    }

    private mutating func end() {
        switch open.popLast()?.container {
        case .array(let values)?: add(.array(values))
        case .object(let builder)?: add(.object(builder.object))
        case nil: break
        }
    }

    /// `{`
    package mutating func beginObject() { open.append((.object(JSONObject.Builder()), "")) }
    /// `}`
    package mutating func endObject() { end() }
    /// `[`
    package mutating func beginArray() { open.append((.array([]), "")) }
    /// `]`
    package mutating func endArray() { end() }
    /// Writes the name of the next value.
    package mutating func key(_ name: StaticString) { key(name.description) }
    /// Writes the name of the next value.
    package mutating func key(_ name: String) {
        guard let last = open.indices.last else { return }
        open[last].key = name
    }
    /// `null`
    package mutating func null() { add(.null) }
    /// `true` or `false`
    package mutating func bool(_ value: Bool) { add(.bool(value)) }
    /// Writes an integer.
    package mutating func integer(_ value: Int64) { add(.integer(value)) }
    /// Writes any other number.
    package mutating func number(_ value: Double) { add(.number(value)) }
    /// Writes a string.
    package mutating func string(_ text: String) { add(.string(text)) }
    /// Writes a string that needs no escapes.
    package mutating func plain(_ text: some ASCIIText) { add(.string(text.text)) }
}

extension JSONValue {
    /// Builds the value that `body` writes.
    package init(writing body: (inout JSONTreeBuilder) -> Void) {
        var builder = JSONTreeBuilder()
        body(&builder)
        self = builder.value
    }
}

extension JSONTreeBuilder: JSONTarget {
    mutating func plainText(_ range: Range<Int>, in bytes: ArraySlice<UInt8>, isKey: Bool) {
        text(String(decoding: bytes[range], as: UTF8.self), isKey: isKey)
    }

    mutating func text(_ text: String, isKey: Bool) {
        if isKey { key(text) } else { string(text) }
    }

    mutating func scalar(_ value: JSONValue) { add(value) }
}
