// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel

extension CommandError {
    /// Why a decoder found no answer.
    init(_ error: CardDecodingError) {
        self.init(
            .otherCard, "notDecoded", error.message[Language.current],
            hint: tr("'kazasu dump -o card.json' keeps what is on it", "'kazasu dump -o card.json' で中身を保存できます"))
    }
}

/// The results of all decoders that recognise a dump.
struct Decoding {
    var reports: [CardReport] = []
    var failures: [CommandError] = []

    init(_ dump: CardDump, _ names: any StationNames) {
        for decoder in DecoderRegistry.standard.recognising(dump) {
            do {
                reports.append(try decoder.decode(dump, stations: names))
            } catch {
                failures.append(CommandError(error))
            }
        }
    }
}
