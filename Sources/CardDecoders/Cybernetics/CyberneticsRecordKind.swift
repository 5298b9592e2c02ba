// SPDX-License-Identifier: Apache-2.0

/// What a record tells of, by class and process.
enum CyberneticsRecordKind {
    /// The kind of a record; `process` without its flag.
    static func kind(_ recordClass: CyberneticsRecordClass, process: UInt8) -> RecordKind {
        switch (recordClass, process) {
        case (_, 0x02), (_, 0x14), (_, 0x15), (_, 0x1F), (_, 0x49): .charge
        case (_, 0x48): .point
        case (_, 0x07), (_, 0x11): .issue
        case (_, 0x03), (_, 0x23): .ticket
        case (_, 0x04), (_, 0x05), (_, 0x08): .adjustment
        case (.purchase, _): .purchase
        case (.bus, _): .bus
        case (.rail, 0x01), (.rail, 0x06), (.rail, 0x13): .rail
        case (.rail, _): .other
        }
    }
}
