// SPDX-License-Identifier: Apache-2.0

/// What a card tells about itself, byte for byte as it comes after the status flags. Nothing is invented: a command
/// whose answer is not given here meets silence.
public struct ProductData: Hashable, Sendable {
    /// Request Product Information: after the length byte; at most 242 bytes are answered.
    public var productInformation: [UInt8]?
    /// Request Specification Version: format, basic version, number of options, options.
    public var specificationVersion: [UInt8]?
    /// Get System Status: flag, length, data.
    public var systemStatus: [UInt8]?
    /// Get Container Issue Information: 16 bytes.
    public var containerIssue: [UInt8]?
    /// Get Container ID: the 8 bytes of the container's IDm.
    public var containerID: [UInt8]?
    /// Get Container Property: the data by index.
    public var containerProperties: [UInt16: [UInt8]] = [:]

    /// A card that tells nothing.
    public init() {}
}
