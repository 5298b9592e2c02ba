// SPDX-License-Identifier: Apache-2.0

/// What a card is to tell beside IDm and PMm when it is polled; the raw values are the bytes on the wire.
public enum PollingRequestCode: UInt8, Hashable, Sendable, CaseIterable {
    /// Nothing.
    case none = 0x00
    /// The system code.
    case systemCode = 0x01
    /// The communication performance.
    case communicationPerformance = 0x02
}
