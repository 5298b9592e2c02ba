// SPDX-License-Identifier: Apache-2.0

/// What a service answers to every read and write.
public enum ServiceRefusal: Hashable, Sendable {
    /// Nothing.
    case silence
    /// Status flags 1 and 2, as one number of four digits.
    case status(UInt16)
}
