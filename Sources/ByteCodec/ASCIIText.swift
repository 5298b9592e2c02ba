// SPDX-License-Identifier: Apache-2.0

/// A short text that can be written without a `String` in between.
///
/// Its characters are printable ASCII, and no quote or backslash is among them, so that it stands in JSON as it is.
public protocol ASCIIText {
    /// Adds the characters at the end.
    func append(to text: inout ByteBuffer)
}

extension ASCIIText {
    /// The text as a string.
    public var text: String {
        var buffer = ByteBuffer()
        append(to: &buffer)
        return buffer.text
    }
}
