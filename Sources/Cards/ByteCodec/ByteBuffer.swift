// SPDX-License-Identifier: Apache-2.0

/// A byte buffer that grows at its end, eight bytes at a time for words.
///
/// An array checks on each append whether its storage is uniquely referenced, and an output span appends one byte at a
/// time. When millions of short texts are assembled, that is most of the work. This buffer is uniquely owned by its
/// type.
@safe
@usableFromInline
package struct ByteBuffer: ~Copyable {
    @usableFromInline var start: UnsafeMutablePointer<UInt8>
    @usableFromInline var length = 0
    @usableFromInline var capacity: Int

    /// The number of bytes.
    @inlinable package var count: Int { length }

    /// Creates an empty buffer.
    ///
    /// - Parameter capacity: the expected number of bytes.
    package init(capacity: Int = 0) {
        self.capacity = Swift.max(capacity, 64)
        unsafe start = .allocate(capacity: self.capacity)
    }

    deinit { unsafe start.deallocate() }

    /// Removes all bytes and keeps the capacity.
    package mutating func removeAll() { length = 0 }

    /// A copy of the bytes as an array.
    package var bytes: [UInt8] { unsafe Array(UnsafeBufferPointer(start: start, count: length)) }

    /// The bytes as text; invalid UTF-8 becomes U+FFFD.
    package var text: String {
        unsafe String(decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self)
    }

    /// Calls `body` with the bytes in place.
    package func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(unsafe UnsafeBufferPointer(start: start, count: length).span)
    }

    /// Reserves `more` bytes and returns their address.
    @inlinable @inline(__always)
    mutating func room(_ more: Int) -> UnsafeMutablePointer<UInt8> {
        if capacity - length < more { grow(more) }
        return unsafe start + length
    }

    @usableFromInline @inline(never)
    mutating func grow(_ more: Int) {
        capacity = Swift.max(capacity * 2, length + more)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        unsafe larger.update(from: start, count: length)
        unsafe start.deallocate()
        unsafe start = larger
    }

    /// Appends one byte.
    @inlinable @inline(__always)
    package mutating func append(_ byte: UInt8) {
        let end = unsafe room(1)
        unsafe end.pointee = byte
        length &+= 1
    }

    /// Appends the low bytes of a word, lowest first.
    ///
    /// - Parameter count: 0 to 8; larger values count as 8, negative ones as 0.
    @inlinable @inline(__always)
    package mutating func append(_ word: UInt64, count: Int) {
        let end = unsafe room(8)
        unsafe UnsafeMutableRawPointer(end).storeBytes(of: word.littleEndian, as: UInt64.self)
        length &+= Swift.max(0, Swift.min(count, 8))
    }

    /// Appends a string literal.
    @inlinable @inline(__always)
    package mutating func append(_ text: StaticString) {
        let count = text.utf8CodeUnitCount
        let end = unsafe room(count)
        unsafe end.update(from: text.utf8Start, count: count)
        length &+= count
    }

    @inlinable
    package mutating func append(contentsOf bytes: Span<UInt8>) {
        let end = unsafe room(bytes.count)
        unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let source = bytes.baseAddress else { return }
            unsafe end.update(from: source, count: bytes.count)
        }
        length &+= bytes.count
    }

    /// Appends the bytes that `write` stores at the address passed to it.
    ///
    /// - Parameters:
    ///   - most: the number of bytes to reserve.
    ///   - write: receives the address of the first byte and returns the number of bytes written: 0 to `most`.
    @unsafe @inlinable @inline(__always)
    package mutating func append(atMost most: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
        let count = unsafe write(room(most))
        length &+= Swift.max(0, Swift.min(count, most))
    }
}
