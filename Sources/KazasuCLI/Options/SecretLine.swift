// SPDX-License-Identifier: Apache-2.0

import CardCiphers
import Glibc

/// Reads a line that nobody else may see: it is in one buffer, which is overwritten.
enum SecretLine {
    /// The longest secret, in bytes.
    static let longest = 64

    /// The first line of an open file, without its end.
    ///
    /// - Returns: `nil` when it is empty or longer than any secret.
    /// - Throws: ``Failure`` when it cannot be read, or a signal came first.
    static func read(_ descriptor: Int32, name: String) throws(Failure) -> SecretBytes? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: longest + 2, alignment: 1)
        defer {
            if let start = buffer.baseAddress { explicit_bzero(start, buffer.count) }
            buffer.deallocate()
        }
        var count = 0
        while count < buffer.count {
            // One byte at a time: what follows the line belongs to others.
            let place = UnsafeMutableRawBufferPointer(rebasing: buffer[count..<count + 1])
            let got = try Descriptor.read(descriptor, into: place, name: name)
            guard got > 0, buffer[count] != UInt8(ascii: "\n") else { break }
            count += 1
        }
        if count > 0, buffer[count - 1] == UInt8(ascii: "\r") { count -= 1 }
        guard (1...longest).contains(count) else { return nil }
        return SecretBytes(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
}
