// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// This value on one line, without blanks, as for one line of ndjson.
    public var compactText: String {
        var writer = JSONWriter()
        writer.value(self)
        return writer.text
    }

    /// This value over several lines, as ``JSONPrettyWriter`` writes it.
    public var prettyText: String {
        var writer = JSONPrettyWriter()
        writer.value(self)
        return writer.unflushed
    }
}
