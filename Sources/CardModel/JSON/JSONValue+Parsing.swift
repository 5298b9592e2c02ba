// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// The most arrays and objects that may stand in one another; Kazasu's own documents have seven at most.
    public static let deepestNesting = 64

    /// The most values that a text may have, so that one of a few megabytes does not take hundreds: a dump in the longest
    /// document has fewer than 200,000 blocks.
    public static let mostValues = 1 << 18

    /// Reads a JSON text (RFC 8259) in UTF-8, with or without a byte order mark.
    ///
    /// Members keep their order; of a name that stands twice the first value counts.
    ///
    /// - Throws: ``DocumentError/notJSON(reason:)`` with the line and the byte of it, both counted from 1.
    public init(parsing bytes: [UInt8]) throws(DocumentError) {
        try self.init(parsing: bytes[...])
    }

    /// Reads a part of a text, as one line of ndjson.
    ///
    /// - Throws: ``DocumentError/notJSON(reason:)`` with the line and the byte of it, both counted from 1.
    public init(parsing bytes: ArraySlice<UInt8>) throws(DocumentError) {
        try self.init(parsing: bytes, allowsNumbersAsNames: false)
    }

    /// Reads a text in which names of members may also be whole numbers without quotes, as in `{3: []}`; such a name is the
    /// text of its digits.
    ///
    /// - Throws: ``DocumentError/notJSON(reason:)`` with the line and the byte of it, both counted from 1.
    package init(parsingNumbersAsNames bytes: ArraySlice<UInt8>) throws(DocumentError) {
        try self.init(parsing: bytes, allowsNumbersAsNames: true)
    }

    private init(parsing bytes: ArraySlice<UInt8>, allowsNumbersAsNames: Bool) throws(DocumentError) {
        var parser = JSONParser(
            bytes, JSONTreeBuilder(firstCounts: ()), allowsNumbersAsNames: allowsNumbersAsNames)
        do {
            try parser.document()
        } catch {
            throw .notJSON(reason: error.reason(in: bytes))
        }
        self = parser.target.value
    }
}
