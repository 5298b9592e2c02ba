// SPDX-License-Identifier: Apache-2.0

/// The transmission and reception flags (data object 90): what the reader leaves undone, two bytes, big-endian.
///
/// Source: felica-rs's `port400/pcsc.rs`.
struct Port400Flags: OptionSet, Hashable, Sendable {
    let rawValue: UInt16

    static let addsNoCRC = Port400Flags(rawValue: 0x01)
    static let keepsCRC = Port400Flags(rawValue: 0x02)
    static let addsNoParity = Port400Flags(rawValue: 0x04)
    static let checksNoParity = Port400Flags(rawValue: 0x08)
    static let addsNoPrologue = Port400Flags(rawValue: 0x10)

    /// A FeliCa packet: the reader adds and checks the CRC. ISO 14443 type B is the same.
    static let felica: Port400Flags = [.addsNoParity, .checksNoParity, .addsNoPrologue]
    /// A frame of ISO 14443 type A: CRC and parity by the reader, no block header.
    static let typeA: Port400Flags = [.addsNoPrologue]
}
