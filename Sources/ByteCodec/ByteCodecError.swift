// SPDX-License-Identifier: Apache-2.0

/// Why a field could not be read or written; offsets count from the start of what is being read.
@nonexhaustive
public enum ByteCodecError: Error, Hashable, Sendable {
    /// `missing` bytes more were needed at `offset`.
    case tooShort(offset: Int, missing: Int)
    /// `extra` bytes were left at `offset` where nothing was expected.
    case tooLong(offset: Int, extra: Int)
}
