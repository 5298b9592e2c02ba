// SPDX-License-Identifier: Apache-2.0

/// What a record tells of, by class and process.
enum CyberneticsRecordKind {
    /// The kind of a record.
    static func kind(_ recordClass: CyberneticsRecordClass, process: UInt8) -> RecordKind {
        switch (recordClass, DecoderTables.transitProcesses.kinds[Int(process)]) {
        case (.purchase, nil), (.purchase, .rail): .purchase
        case (.bus, nil), (.bus, .rail): .bus
        case (.rail, nil): .other
        case (_, let kind?): kind
        }
    }
}
