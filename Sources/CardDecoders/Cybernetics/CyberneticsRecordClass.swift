// SPDX-License-Identifier: Apache-2.0

/// What bytes 6 to 9 of a record are; the raw values are those of the tables.
enum CyberneticsRecordClass: String, Sendable {
    /// Two stations, or one and 0000.
    case rail
    /// An operator and a stop.
    case bus
    /// A time and the number of a shop's machine; they can look like stations.
    case purchase

    /// The class by machine and process: a purchase when either says so, else a bus record when either says so.
    init(terminal: UInt8, process: UInt8) {
        switch (
            DecoderTables.transitTerminals.classes[Int(terminal)], DecoderTables.transitProcesses.classes[Int(process)]
        ) {
        case (.purchase, _), (_, .purchase): self = .purchase
        case (.bus, _), (_, .bus): self = .bus
        default: self = .rail
        }
    }
}
