// SPDX-License-Identifier: Apache-2.0

extension JSONTreeBuilder: JSONTarget {
    mutating func plainText(_ range: Range<Int>, in bytes: ArraySlice<UInt8>, isKey: Bool) {
        text(String(decoding: bytes[range], as: UTF8.self), isKey: isKey)
    }

    mutating func text(_ text: String, isKey: Bool) {
        if isKey { key(text) } else { string(text) }
    }

    mutating func scalar(_ value: JSONValue) { add(value) }
}
