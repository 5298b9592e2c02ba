// SPDX-License-Identifier: Apache-2.0

/// The order of the bytes of a number.
public enum ByteOrder: Hashable, Sendable {
    /// Most significant byte first.
    case big
    /// Least significant byte first.
    case little
}
