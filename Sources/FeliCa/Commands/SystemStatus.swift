// SPDX-License-Identifier: Apache-2.0

/// The answer to Get System Status; what it means is not published.
public struct SystemStatus: Hashable, Sendable {
    /// The byte before the data.
    public let flag: UInt8
    /// The data, as many bytes as the card counts.
    public let data: [UInt8]
}
