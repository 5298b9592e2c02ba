// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardDecoders
import CardModel

/// The kinds of card that `--card` takes: the decoders of cards with money, by their id.
struct CardKind: ExpressibleByArgument, Equatable, Sendable {
    var id: String

    init?(argument: String) {
        guard DecoderRegistry.standard.decoder(id: argument)?.hasBalance == true else { return nil }
        id = argument
    }

    static var allValueStrings: [String] { DecoderRegistry.standard.purses.map(\.id) }

    /// The decoders to try, in order.
    static func decoders(_ kind: CardKind?) -> [any CardDecoder] {
        guard let kind else { return DecoderRegistry.standard.purses }
        return DecoderRegistry.standard.purses.filter { $0.id == kind.id }
    }

    /// The systems of these decoders, each once, in order.
    static func systems(_ decoders: [any CardDecoder]) -> [SystemCode] {
        var seen: Set<SystemCode> = []
        return decoders.map(\.system).filter { seen.insert($0).inserted }
    }
}
