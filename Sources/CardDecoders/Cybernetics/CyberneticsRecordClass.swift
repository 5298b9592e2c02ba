// SPDX-License-Identifier: Apache-2.0

/// What bytes 6 to 9 of a record are.
enum CyberneticsRecordClass {
    /// Two stations, or one and 0000.
    case rail
    /// An operator and a stop.
    case bus
    /// A time and the number of a shop's machine; they can look like stations.
    case purchase

    /// The class by machine and process (without its flag), asked in this order; C9 and CA by analogy.
    init(terminal: UInt8, process: UInt8) {
        switch (terminal, process) {
        case (0xC7...0xCA, _), (_, 0x46), (_, 0x49), (_, 0x4A), (_, 0x4B): self = .purchase
        case (0x05, _), (_, 0x0C), (_, 0x0D), (_, 0x0F), (_, 0x1F), (_, 0x23): self = .bus
        default: self = .rail
        }
    }
}
