// SPDX-License-Identifier: Apache-2.0

/// One item of a file of a licence: tag, length, value.
public struct LicenseRecord: Hashable, Sendable {
    /// The tag.
    public let tag: LicenseTag
    /// Where the tag stands in the file, in bytes from its start.
    public let offset: Int
    /// The value; empty for an item that is not there.
    public let value: [UInt8]
}
