// SPDX-License-Identifier: Apache-2.0

/// The way to one selected card.
///
/// A frame is what the card sees above the chip: a FeliCa packet with its LEN byte, an APDU on ISO-DEP, a Type 2
/// command without its CRC (an ACK or NAK of four bits comes back as one byte). Channels are synchronous and belong to one thread at a time.
public protocol CardChannel {
    /// Sends one frame to the selected card and returns its answer, LEN byte included for FeliCa.
    ///
    /// - Parameters:
    ///   - frame: what the card is to get.
    ///   - timeout: the longest time that the card may take; the channel adds what the reader needs.
    /// - Throws: ``TransportError/noAnswer`` when the card keeps silent, and the other cases of ``TransportError``.
    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8]
}
