// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// Makes strings of fields; a field that is equal to the last one of its column shares its string.
struct RepeatedStrings {
    private var last: [(bytes: ArraySlice<UInt8>, text: String)?] = [nil, nil, nil]

    /// The text of a field of column 0, 1 or 2; `nil` when it is empty or not there.
    mutating func text(_ field: ArraySlice<UInt8>?, _ column: Int) -> String? {
        guard let field, !field.isEmpty else { return nil }
        if let known = last.element(at: column) ?? nil, known.bytes.elementsEqual(field) { return known.text }
        let text = String(decoding: field, as: UTF8.self)
        if last.indices.contains(column) { last[column] = (field, text) }
        return text
    }
}
