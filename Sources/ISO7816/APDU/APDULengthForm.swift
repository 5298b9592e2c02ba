// SPDX-License-Identifier: Apache-2.0

/// How Lc and Le of a command APDU are written.
public enum APDULengthForm: Hashable, Sendable {
    /// In one byte where both fit, else extended.
    case automatic
    /// In one byte: up to 255 bytes of data, up to 256 bytes of answer.
    case short
    /// In two bytes after a zero byte: up to 65,535 bytes of data, up to 65,536 bytes of answer.
    case extended
}
