// SPDX-License-Identifier: Apache-2.0

/// Why bytes are no application directory.
@nonexhaustive
public enum MIFAREDirectoryError: Error, Hashable, Sendable {
    /// The blocks of this part (1 or 2) do not have so many bytes.
    case length(part: Int, expected: Int, given: Int)
    /// The checksum of this part (1 or 2) is not that of its bytes.
    case checksum(part: Int, stored: UInt8, computed: UInt8)
}
