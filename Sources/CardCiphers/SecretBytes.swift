// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Bytes that nobody may see: pages of their own, which are not written to the swap device or a core dump where the
/// system allows that, and are overwritten when nobody holds the value any more.
///
/// It prints, reflects and dumps as `Redacted`, and can be neither compared nor encoded.
@safe
package final class SecretBytes: SecretValue {
    private let memory: UnsafeMutableRawBufferPointer
    /// Whether the memory is pages of its own; without any to be had it is like other memory.
    private let isMapped: Bool
    /// How many bytes there are.
    package private(set) var count: Int

    /// A copy of these bytes; who holds them overwrites them then.
    package convenience init(_ bytes: some Collection<UInt8>) {
        unsafe self.init(capacity: bytes.count) { memory in
            unsafe memory.copyBytes(from: bytes)
            return bytes.count
        }
    }

    /// Bytes that are written where they stay.
    ///
    /// - Parameters:
    ///   - capacity: how many there may be.
    ///   - fill: is given the memory, and says how many bytes of it count.
    package init<Failure: Error>(
        capacity: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        let length = max(capacity, 1)
        let pages = unsafe mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        if let pages = unsafe pages, unsafe pages != MAP_FAILED {
            // Both may be refused, by a limit or by the system; the secret is needed all the same.
            unsafe mlock(pages, length)
            unsafe madvise(pages, length, MADV_DONTDUMP)
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
            unsafe munmap(start, memory.count)
        } else {
            unsafe memory.deallocate()
        }
    }

    /// Lends the bytes out; nothing of them may be kept.
    package func withUnsafeBytes<Result, Failure: Error>(
        _ use: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe use(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }

    /// Overwrites the bytes with zeros.
    package func wipe() {
        if let start = unsafe memory.baseAddress { unsafe explicit_bzero(start, memory.count) }
    }
}

/// A value that nobody may see: it prints, reflects and dumps as `Redacted`.
public protocol SecretValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension SecretValue {
    /// `Redacted`.
    public var description: String { "Redacted" }
    /// `Redacted`.
    public var debugDescription: String { "Redacted" }
    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension [UInt8] {
    /// Overwrites the bytes with zeros; copies that others hold stay as they are.
    package mutating func wipe() {
        unsafe withUnsafeMutableBytes { bytes in
            if let start = bytes.baseAddress { unsafe explicit_bzero(start, bytes.count) }
        }
    }
}
