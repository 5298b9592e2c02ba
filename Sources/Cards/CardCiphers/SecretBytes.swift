// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// Secret bytes in dedicated memory pages, overwritten when the last reference is released.
///
/// Where the system allows it, the pages are excluded from swap and core dumps. The value prints, reflects and dumps as
/// `Redacted`, and can be neither compared nor encoded.
@safe
package final class SecretBytes: SecretValue {
    private let memory: UnsafeMutableRawBufferPointer
    /// Whether the memory consists of dedicated pages; if none are available, it is ordinary memory.
    private let isMapped: Bool
    /// The number of bytes.
    package private(set) var count: Int

    /// Copies these bytes; the caller is responsible for overwriting the originals.
    package convenience init(_ bytes: some Collection<UInt8>) {
        unsafe self.init(capacity: bytes.count) { memory in
            unsafe memory.copyBytes(from: bytes)
            return bytes.count
        }
    }

    /// Creates secret bytes in place.
    ///
    /// - Parameters:
    ///   - capacity: the maximum number of bytes.
    ///   - fill: receives the memory and returns the number of bytes used.
    package init<Failure: Error>(
        capacity: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        let length = max(capacity, 1)
        if let pages = unsafe Platform.secretPages(length) {
            unsafe memory = UnsafeMutableRawBufferPointer(start: pages, count: length)
            isMapped = true
        } else {
            unsafe memory = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 1)
            isMapped = false
        }
        count = 0
        count = unsafe min(max(0, try fill(UnsafeMutableRawBufferPointer(rebasing: memory[..<capacity]))), capacity)
    }

    deinit {
        wipe()
        if isMapped, let start = unsafe memory.baseAddress {
            unsafe Platform.unmap(start, memory.count)
        } else {
            unsafe memory.deallocate()
        }
    }

    /// Calls `use` with the bytes, which must not be retained.
    package func withUnsafeBytes<Result, Failure: Error>(
        _ use: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe use(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }

    /// Overwrites the bytes with zeros.
    package func wipe() {
        unsafe Platform.wipe(memory)
    }
}

/// A secret value: it prints, reflects and dumps as `Redacted`.
public protocol SecretValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension SecretValue {
    /// `Redacted`.
    public var description: String { "Redacted" }
    /// `Redacted`.
    public var debugDescription: String { "Redacted" }
    /// An empty mirror.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension [UInt8] {
    /// Overwrites the bytes with zeros; other copies are unaffected.
    package mutating func wipe() {
        unsafe withUnsafeMutableBytes { bytes in
            unsafe Platform.wipe(bytes)
        }
    }
}
