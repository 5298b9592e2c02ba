// SPDX-License-Identifier: Apache-2.0

package import Kazasu

extension CommandError {
    /// Returns the program's error for one of the library; any other error unchanged.
    package static func of(_ error: any Error) -> any Error {
        switch error {
        case let error as KazasuError: CommandError(error)
        case let error as DumpDecodingError: CommandError(error)
        case let error as any CommandFailure: error.commandError
        default: error
        }
    }

    /// Why a decoder found no answer on a card.
    package init(_ error: CardDecodingError) {
        self.init(.cardNotDecoded, error)
    }

    /// Why a decoder found no answer in a dump.
    package init(ofDump error: CardDecodingError) {
        self.init(.dumpNotDecoded, error)
    }

    /// Why a dump gives no balance or history.
    package init(_ error: DumpDecodingError) {
        switch error {
        case .decoding(let error): self.init(ofDump: error)
        case .otherCard: self.init(.dumpOfOtherCard, error)
        }
    }
}

extension CardDump {
    /// The card of the dump for a document.
    package func decoded(as kind: CardKind?, _ redaction: Redaction) -> DecodedCard {
        var card = DecodedCard(self, kind: kind)
        card.identity = redaction.apply(card.identity)
        return card
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
        if !dump.isComplete { note(place + tr("the dump is not complete", "このダンプは不完全です")) }
    }
}
