// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel

/// One line of ndjson for each dump of many.
struct DecodeLine: ~Copyable {
    let names: any StationNames
    let redaction: Redaction
    /// Kept for its buffer.
    private var writer = JSONWriter()

    init(names: any StationNames, redaction: Redaction) {
        self.names = names
        self.redaction = redaction
    }

    mutating func print(_ dump: CardDump, _ place: String) throws(Failure) {
        writer.removeAll()
        DecodeView(dump: dump, reports: Decoding(dump, names).reports, redaction: redaction)
            .write(to: &writer, file: place)
        writer.endLine()
        try writer.withBytes { bytes throws(Failure) in try Output.write(bytes) }
    }
}
