// SPDX-License-Identifier: Apache-2.0

import CardCiphers
import Glibc

/// Reads a line that nobody else may see into the memory where it stays.
enum SecretLine {
    /// The longest secret, in bytes.
    static let longest = 64

    /// The first line of an open file, without its end.
    ///
    /// - Returns: `nil` when it is empty or longer than any secret.
    /// - Throws: ``Failure`` when it cannot be read, or a signal came first.
    static func read(_ descriptor: Int32, name: String) throws(Failure) -> SecretBytes? {
        ProcessSecrecy.begin()
        var length = 0
        let secret = try SecretBytes(capacity: longest + 2) { buffer throws(Failure) in
            var count = 0
            while count < buffer.count {
                // One byte at a time: what follows the line belongs to others.
                let place = UnsafeMutableRawBufferPointer(rebasing: buffer[count..<count + 1])
                let got = try Descriptor.read(descriptor, into: place, name: name)
                guard got > 0, buffer[count] != UInt8(ascii: "\n") else { break }
                count += 1
            }
            if count > 0, buffer[count - 1] == UInt8(ascii: "\r") { count -= 1 }
            length = count
            return count
        }
        return (1...longest).contains(length) ? secret : nil
    }
}
