// SPDX-License-Identifier: Apache-2.0

internal import Glibc

extension [UInt8] {
    /// Overwrites the bytes with zeros; copies that others hold stay as they are.
    public mutating func wipe() {
        unsafe withUnsafeMutableBytes { bytes in
            if let start = bytes.baseAddress { unsafe explicit_bzero(start, bytes.count) }
        }
    }
}
