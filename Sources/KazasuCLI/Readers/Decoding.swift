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

extension Context {
    /// Notes what a dump lacks.
    ///
    /// - Parameter place: the source of the dump, when it is one of many.
    func noteLimits(of dump: CardDump, _ place: String? = nil) {
        let place = place.map { "\($0): " } ?? ""
        // Such block numbers are assumed and not those of the source file.
        if dump.systems.contains(where: { $0.services.contains { $0.assumed == [.blocks] } }) {
            note(
                place
                    + tr(
                        "the file labels two records alike: they are numbered in the order of its lines",
                        "履歴の番号が重複しているため、行の順に番号を付けました"))
        }
        if !dump.complete { note(place + tr("the dump is not complete", "このダンプは不完全です")) }
    }
}
