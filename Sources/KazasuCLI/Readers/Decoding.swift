// SPDX-License-Identifier: Apache-2.0

package import CardDecoders
package import CardModel

extension CommandError {
    /// Why a decoder found no answer on a card.
    package init(_ error: CardDecodingError) {
        self.init(
            .otherCard, "notDecoded", error.words,
            hint: tr("'kazasu dump -o card.json' saves its contents", "'kazasu dump -o card.json' で中身を保存できます"))
    }

    /// Why a decoder found no answer in a dump.
    package init(ofDump error: CardDecodingError) {
        self.init(.otherCard, "notDecoded", error.words, hint: CommandError.decodeHint)
    }

    /// The remedy for a dump that does not contain what is wanted.
    package static var decodeHint: String {
        tr("'kazasu decode FILE' shows what it contains", "'kazasu decode ファイル' で中身を確認できます")
    }
}

/// The results of all decoders that recognise a dump.
package struct Decoding {
    package var reports: [CardReport] = []
    package var failures: [CommandError] = []

    package init(_ dump: CardDump, _ names: any StationNames) {
        for decoder in DecoderRegistry.standard.recognising(dump) {
            do {
                reports.append(try decoder.decode(dump, stations: names))
            } catch {
                failures.append(CommandError(ofDump: error))
            }
        }
    }
}

extension Context {
    /// Notes what a dump lacks.
    ///
    /// - Parameter place: the source of the dump, when it is one of many.
    package func noteLimits(of dump: CardDump, _ place: String? = nil) {
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
