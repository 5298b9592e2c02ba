// SPDX-License-Identifier: Apache-2.0

internal import CardReading
package import FeliCa

/// What a card must prove before its tap says whose it is: that it is a FeliCa Lite-S with this key.
package struct TapProof: Hashable, Sendable {
    private let key: LiteKeySource
    /// What the key makes of fixed data: equal for equal keys.
    private let mark: [UInt8]

    /// Makes a proof with a card key, or the master key of many.
    package init(_ key: LiteKeySource) {
        self.key = key
        mark = key.mark
    }

    package static func == (one: TapProof, other: TapProof) -> Bool { one.mark == other.mark }

    package func hash(into hasher: inout Hasher) { hasher.combine(mark) }

    /// Checks a card with a new random challenge.
    ///
    /// - Throws: ``KazasuError``; ``LiteError/notGenuine`` for a card that does not have the key.
    package func check(_ card: Card) throws(KazasuError) {
        let result = try card.lite().verify(key)
        guard result.isLiteS else { throw .lite(.notLiteS) }
        guard result.isGenuine else { throw .lite(.notGenuine) }
    }
}
