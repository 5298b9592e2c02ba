// SPDX-License-Identifier: Apache-2.0

/// Why no reader can be used; the raw values are those of the JSON error's `reason`.
public enum UnavailableReason: String, Hashable, Sendable {
    /// It is not plugged in, or does not answer as a reader.
    case absent
    /// Another program or a kernel driver holds it.
    case busy
    /// The user may not open it.
    case permission
    /// No driver of Kazasu's can use it.
    case unsupported
}
