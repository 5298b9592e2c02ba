// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel

/// What all decoders that know a dump make of it.
struct Decoding {
    var reports: [CardReport] = []
    var failures: [Failure] = []

    init(_ dump: CardDump, _ names: any StationNames) {
        for decoder in DecoderRegistry.standard.recognising(dump) {
            do {
                reports.append(try decoder.decode(dump, stations: names))
            } catch {
                failures.append(Failure(error))
            }
        }
    }
}
