// SPDX-License-Identifier: Apache-2.0

/// Bytes that grow at their end, eight at a time where they come as a word.
///
/// An array asks at each addition whether it is the only owner of its bytes, and an output span takes them one by one.
/// Where millions of short texts are put together, that is most of the work. This buffer has one owner by its type.
@safe
package struct ByteBuffer: ~Copyable {
    var start: UnsafeMutablePointer<UInt8>
    var length = 0
    var capacity: Int

    /// How many bytes there are.
    package var count: Int { length }

    /// No bytes yet.
    ///
    /// - Parameter capacity: how many bytes are expected.
    package init(capacity: Int = 0) {
        self.capacity = Swift.max(capacity, 64)
        unsafe start = .allocate(capacity: self.capacity)
    }

    deinit { unsafe start.deallocate() }

    /// Forgets the bytes and keeps their room.
    package mutating func removeAll() { length = 0 }

    /// The bytes as an array of their own.
    package var bytes: [UInt8] { unsafe Array(UnsafeBufferPointer(start: start, count: length)) }

    /// The bytes as text; what is not UTF-8 becomes U+FFFD.
    package var text: String {
        unsafe String(decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self)
    }

    /// Calls `body` with the bytes where they are.
    package func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(unsafe UnsafeBufferPointer(start: start, count: length).span)
    }

    /// Makes room for `more` bytes and says where they go.
    @inline(__always)
    mutating func room(_ more: Int) -> UnsafeMutablePointer<UInt8> {
        if capacity - length < more { grow(more) }
        return unsafe start + length
    }

    @inline(never)
    mutating func grow(_ more: Int) {
        capacity = Swift.max(capacity * 2, length + more)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        unsafe larger.update(from: start, count: length)
        unsafe start.deallocate()
        unsafe start = larger
    }

    /// Adds one byte.
    @inline(__always)
    package mutating func append(_ byte: UInt8) {
        let end = unsafe room(1)
        unsafe end.pointee = byte
        length &+= 1
    }

    /// Adds the first `length` bytes of a word, of which the lowest comes first.
    ///
    /// - Parameter count: 0 to 8; more than eight are eight, less than none are none.
    @inline(__always)
    package mutating func append(_ word: UInt64, count: Int) {
        let end = unsafe room(8)
        unsafe UnsafeMutableRawPointer(end).storeBytes(of: word.littleEndian, as: UInt64.self)
        length &+= Swift.max(0, Swift.min(count, 8))
    }

    /// Adds a text that stands in the program.
    @inline(__always)
    package mutating func append(_ text: StaticString) {
        let count = text.utf8CodeUnitCount
        let end = unsafe room(count)
        unsafe end.update(from: text.utf8Start, count: count)
        length &+= count
    }

    /// Adds bytes.
    package mutating func append(contentsOf bytes: Span<UInt8>) {
        let end = unsafe room(bytes.count)
        unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let source = bytes.baseAddress else { return }
            unsafe end.update(from: source, count: bytes.count)
        }
        length &+= bytes.count
    }

    /// Adds what `write` writes, where it is told to.
    ///
    /// - Parameters:
    ///   - most: how many bytes there is room for.
    ///   - write: is given the place of the first byte, and says how many it wrote: 0 to `most`.
    @unsafe @inline(__always)
    package mutating func append(atMost most: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
        let count = unsafe write(room(most))
        length &+= Swift.max(0, Swift.min(count, most))
    }
}
