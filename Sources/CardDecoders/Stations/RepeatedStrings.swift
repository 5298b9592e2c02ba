// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// Makes strings of fields; a field that is equal to the last one of its column shares its string.
struct RepeatedStrings {
    private var last: [(range: Range<Int>, text: String)?]

    /// Strings of the columns before `columns`.
    init(columns: Int) {
        last = Array(repeating: nil, count: columns)
    }

    /// The text of a field; `nil` when it is empty or not there.
    mutating func text(_ row: DelimitedRow, _ column: Int) -> String? {
        guard let range = row.fields.element(at: column), !range.isEmpty else { return nil }
        if let known = last.element(at: column) ?? nil, row.isEqual(known.range, range) { return known.text }
        let text = row.text(column)
        if last.indices.contains(column) { last[column] = text.map { (range, $0) } }
        return text
    }
}
