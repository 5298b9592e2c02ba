// SPDX-License-Identifier: Apache-2.0

/// The frames of MIFARE Classic, which a reader has to encipher itself (Crypto1).
///
/// The channel takes them as a PN53x does in InDataExchange: `60` or `61`, the block, six bytes of a key and the last four of
/// the UID for an authentication; then `30` block, `A0` block and sixteen bytes, `C0` or `C1` block and four bytes, `C2` block,
/// `B0` block. An acknowledgement is an empty answer or `0A`. A reader that cannot do it throws
/// ``TransportError/unsupported(detail:)`` for the authentication.
package enum ClassicFrame {
    /// Whether a frame for a card of type A without ISO-DEP is an authentication. No card has another command of this form.
    package static func isAuthentication(_ frame: [UInt8]) -> Bool {
        frame.count == 12 && (frame[0] == 0x60 || frame[0] == 0x61)
    }

    /// Where the key is in an authentication.
    package static let key = 2..<8

    /// Whether a block is the trailer of its sector, which has the keys.
    package static func isTrailer(_ block: UInt8) -> Bool {
        let last: UInt8 = block < 128 ? 3 : 15
        return block & last == last
    }

    /// The error of a reader that cannot do Crypto1.
    package static let notPassed = TransportError.unsupported(detail: .init(.noCrypto1))
}
