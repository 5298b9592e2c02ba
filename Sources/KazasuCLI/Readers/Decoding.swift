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

extension CardDecodingError {
    /// What is missing, with the card's name.
    fileprivate var words: String {
        let name = DecoderRegistry.standard.decoder(id: card)?.name[Language.current] ?? card
        let place = "\(system)/\(service)"
        let what =
            switch reason {
            case .noSuchService: tr("the card has no service \(place)", "サービス \(place) がありません")
            case .notRead:
                tr(
                    "block \(block) of service \(place) was not read", "サービス \(place) のブロック \(block) を読み取れていません")
            case .keyRequired: tr("service \(place) needs a key", "サービス \(place) には鍵が必要です")
            case .refused:
                tr("the card refused to read service \(place)", "サービス \(place) の読み取りをカードが拒否しました")
            case .lost:
                tr(
                    "the card left before service \(place) was read", "サービス \(place) を読み取る前にカードが離れました")
            case .otherLayout:
                tr("the contents of service \(place) are in another format", "サービス \(place) の内容は別の形式です")
            case .noBalance: tr("this card has no balance that can be read", "残高を読み取れないカードです")
            }
        return "\(name): \(what)"
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
