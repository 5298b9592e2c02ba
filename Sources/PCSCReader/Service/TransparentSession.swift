// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import NFCTransport

/// The transparent session of PC/SC part 3, in which a reader passes frames on as they are.
///
/// Sources: the pseudo-APDUs as programs send them to Ultralight C and ISO 15693 tags through an ACR1552U, and to FeliCa
/// cards through an RC-S300 and an RC-S660; the data objects of felica-rs and pasorich, which know the RC-S300's under
/// Sony's own instruction.
enum TransparentSession {
    /// Begins a session: the reader looks for no cards by itself while it lasts.
    static let start: [UInt8] = [0xFF, 0xC2, 0x00, 0x00, 0x02, 0x81, 0x00]
    /// Ends it.
    static let end: [UInt8] = [0xFF, 0xC2, 0x00, 0x00, 0x02, 0x82, 0x00]

    /// What the reader shall speak with the card.
    enum AirProtocol: Hashable, Sendable {
        /// ISO 14443 type A, layer 3: a frame with its checksum and nothing else.
        case typeA
        /// FeliCa: packets with their LEN byte.
        case felica

        /// The pseudo-APDU that chooses it.
        var command: [UInt8] {
            switch self {
            case .typeA: [0xFF, 0xC2, 0x00, 0x02, 0x04, 0x8F, 0x02, 0x00, 0x03]
            case .felica: [0xFF, 0xC2, 0x00, 0x02, 0x04, 0x8F, 0x02, 0x03, 0x00]
            }
        }
    }

    /// A command that manages the session, with Le as programs for the RC-S300 send it, and without as those for the
    /// ACR1552U do.
    static func forms(of command: [UInt8]) -> [[UInt8]] { [command + [0x00], command] }

    /// The longest frame of a card that fits into a short APDU with the data objects around it.
    static let longestAnswer = 241

    private static let frameTag = BERTag(rawValue: 0x95)
    private static let errorTag = BERTag(rawValue: 0xC0)
    private static let receptionTag = BERTag(rawValue: 0x96)
    private static let answerTag = BERTag(rawValue: 0x97)

    /// The pseudo-APDU that carries a frame, or `nil` when it is too long for one.
    static func exchange(_ frame: [UInt8]) -> [UInt8]? {
        let object = BERTLV(frameTag, frame).encoded
        guard !frame.isEmpty, let length = UInt8(exactly: object.count) else { return nil }
        return [0xFF, 0xC2, 0x00, 0x01, length] + object + [0x00]
    }

    /// Whether the reader did what manages a session: its status word, and within the answer an error of its own.
    static func isDone(_ answer: [UInt8]) -> Bool {
        guard answer.suffix(2) == [0x90, 0x00] else { return false }
        guard let error = BERTLVList(tolerant: answer.dropLast(2))[errorTag] else { return true }
        return error.value.suffix(2) == [0x90, 0x00]
    }

    /// The card's frame out of the reader's answer; acknowledgements of four bits are one byte.
    ///
    /// - Parameter notPassed: what to say when the reader refuses.
    /// - Throws: ``TransportError/noAnswer`` when the card kept silent, ``TransportError/corrupted(status:)`` when its
    ///   answer came damaged or the reader's is broken, `notPassed`.
    static func frame(in answer: [UInt8], notPassed: TransportError) throws(TransportError) -> [UInt8] {
        let objects = BERTLVList(tolerant: try PseudoAPDU.content(of: answer, notPassed: notPassed))
        // C0: the number of the data object that failed, and its status word.
        if let error = objects[errorTag]?.value, error.suffix(2) != [0x90, 0x00] {
            guard error.count == 3, error[1] == 0x64 else { throw .corrupted(status: error.last ?? 0) }
            throw .noAnswer
        }
        // 96: what the receiver says, in the lower half of its first byte: checksum, collision, parity, framing.
        if let reception = objects[receptionTag]?.value.first, reception & 0x0F != 0 {
            throw .corrupted(status: reception & 0x0F)
        }
        guard objects.fault == nil else { throw .corrupted(status: 0) }
        guard let frame = objects[answerTag]?.value, !frame.isEmpty else { throw .noAnswer }
        return frame
    }
}
