// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Bytes that nobody may see: one buffer, which is overwritten when nobody holds it any more.
///
/// It prints, reflects and dumps as `Redacted`, and can be neither compared nor encoded.
@safe
public final class SecretBytes: SecretValue {
    private let memory: UnsafeMutableRawBufferPointer

    /// A copy of these bytes; who holds them overwrites them then.
    public init(_ bytes: some Collection<UInt8>) {
        unsafe memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        unsafe memory.copyBytes(from: bytes)
    }

    deinit {
        wipe()
        unsafe memory.deallocate()
    }

    /// How many bytes there are.
    public var count: Int { unsafe memory.count }

    /// Lends the bytes out; nothing of them may be kept.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ use: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe use(UnsafeRawBufferPointer(memory))
    }

    /// Overwrites the bytes with zeros.
    public func wipe() {
        if let start = unsafe memory.baseAddress { unsafe explicit_bzero(start, memory.count) }
    }
}
