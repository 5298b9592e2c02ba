// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel

/// One line of ndjson for each dump of many.
struct DecodeLine {
    let names: any StationNames
    let redaction: Redaction

    func print(_ dump: CardDump, _ place: String) throws(Failure) {
        let view = DecodeView(dump: dump, reports: Decoding(dump, names).reports, redaction: redaction)
        guard case .object(let document) = redaction.apply(view.json) else { return }
        var line = JSONObject([("schema", document["schema"] ?? .null), ("file", .string(place))])
        line.merge(document)
        try Output.write(JSONValue.object(line).compactText + "\n")
    }
}
