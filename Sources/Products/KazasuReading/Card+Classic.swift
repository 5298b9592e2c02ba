// SPDX-License-Identifier: Apache-2.0

package import NFCForumTags
internal import ReaderCore

extension Card {
    /// Returns the card as a MIFARE Classic, to be read and written with its owner's keys.
    ///
    /// - Throws: ``KazasuError/wrongCard(_:)`` for a card of another kind.
    package func classic() throws(KazasuError) -> ClassicTag {
        guard case .typeA(let target) = picc,
            let tag = ClassicTag(reader: reader.device, target: target, cancellation: reader.cancellation)
        else { throw .wrongCard(reader.wrongCard(found, wanted: .classic)) }
        return tag
    }
}

extension CardQuery {
    /// A MIFARE Classic.
    public static let classic = CardQuery(.classic, .firstOf([.typeA]))
}
