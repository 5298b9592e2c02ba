// SPDX-License-Identifier: Apache-2.0

/// A short text that can be written byte by byte, without a `String` in between.
///
/// Its characters are printable ASCII, and no quote or backslash is among them, so that it stands in JSON as it is.
public protocol ASCIIText {
    /// The most bytes that ``append(to:)`` adds.
    var longestCount: Int { get }
    /// Adds the characters to a text that has room for ``longestCount`` more.
    func append(to text: inout OutputSpan<UInt8>)
}

extension OutputSpan where Element == UInt8 {
    /// Adds bytes at once, which is faster than one by one; there must be room for them.
    @inlinable
    public mutating func append(copying bytes: UnsafeBufferPointer<UInt8>) {
        let room = freeCapacity
        precondition(bytes.count <= room)
        unsafe withUnsafeMutableBufferPointer { target, count in
            guard let start = target.baseAddress, let source = bytes.baseAddress else { return }
            unsafe (start + count).initialize(from: source, count: bytes.count)
            count += bytes.count
        }
    }
}

extension ASCIIText {
    /// The text as a string.
    public var text: String {
        var bytes: [UInt8] = []
        bytes.append(addingCapacity: longestCount) { append(to: &$0) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
