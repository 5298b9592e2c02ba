// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A PIN, or another secret that a card compares: its bytes are in one place of memory, which is overwritten when nobody
/// holds the value any more.
///
/// It prints, reflects and dumps as `Redacted`, cannot be compared, encoded or copied out, and is sent at most once.
@safe
public final class PIN {
    private let memory: UnsafeMutableRawBufferPointer
    /// Whether it was sent, or tried to be.
    public private(set) var isSpent = false

    /// A secret of these bytes; who holds them overwrites them then.
    public init(_ bytes: some Collection<UInt8>) {
        unsafe memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        unsafe memory.copyBytes(from: bytes)
    }

    deinit {
        wipe()
        unsafe memory.deallocate()
    }

    /// Whether it has this form.
    public func matches(_ form: PINForm) -> Bool {
        unsafe form.accepts(UnsafeRawBufferPointer(memory))
    }

    /// Overwrites the bytes; nothing can be sent after that.
    public func wipe() {
        isSpent = true
        if let start = unsafe memory.baseAddress { unsafe explicit_bzero(start, memory.count) }
    }

    /// Hands the bytes out, once: the second time there are none. They are overwritten afterwards, here and in the
    /// array, as far as nobody else holds that.
    func spend<Result>(
        _ permit: PINPermit, after header: [UInt8], _ use: ([UInt8]) throws(ISO7816Error) -> Result
    ) throws(ISO7816Error) -> Result? {
        guard !isSpent else { return nil }
        isSpent = true
        var frame = header
        unsafe frame.reserveCapacity(header.count + 1 + memory.count)
        unsafe frame.append(UInt8(clamping: memory.count))
        unsafe frame.append(contentsOf: memory)
        defer {
            wipe()
            unsafe frame.withUnsafeMutableBytes { bytes in
                if let start = bytes.baseAddress { unsafe explicit_bzero(start, bytes.count) }
            }
        }
        return try use(frame)
    }
}

extension PIN: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `Redacted`.
    public var description: String { "Redacted" }
    /// `Redacted`.
    public var debugDescription: String { "Redacted" }
    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
