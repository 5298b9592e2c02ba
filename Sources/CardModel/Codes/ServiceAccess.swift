// SPDX-License-Identifier: Apache-2.0

/// What a FeliCa service lets one do with its blocks; the raw values are those of `kazasu.scan/1`.
public enum ServiceAccess: String, Hashable, Sendable {
    /// Read and write.
    case readWrite
    /// Read only.
    case readOnly
    /// Purse: any value may be written.
    case direct
    /// Purse: take off, and give back at most what was taken last.
    case cashback
    /// Purse: take off only.
    case decrement
}
