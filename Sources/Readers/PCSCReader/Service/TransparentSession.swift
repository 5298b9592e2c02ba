// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import ReaderCore

/// The transparent session of PC/SC part 3, in which a reader forwards frames unchanged.
///
/// Sources: the pseudo-APDUs as programs send them to Ultralight C and ISO 15693 tags through an ACR1552U, and to
/// FeliCa cards through an RC-S300 and an RC-S660; the data objects of felica-rs and pasorich, which use the RC-S300's
/// under Sony's own instruction.
enum TransparentSession {
    /// Begins a session: the reader does not look for cards by itself while it lasts.
    static let start: [UInt8] = [0xFF, 0xC2, 0x00, 0x00, 0x02, 0x81, 0x00]
    /// Ends the session.
    static let end: [UInt8] = [0xFF, 0xC2, 0x00, 0x00, 0x02, 0x82, 0x00]

    /// The protocol between reader and card.
    enum CardProtocol: Hashable, Sendable {
        /// ISO 14443 type A, layer 3: a frame with its checksum and nothing else.
        case typeA
        /// FeliCa: packets with their LEN byte.
        case felica

        /// The pseudo-APDU that selects it.
        var command: [UInt8] {
            switch self {
            case .typeA: [0xFF, 0xC2, 0x00, 0x02, 0x04, 0x8F, 0x02, 0x00, 0x03]
            case .felica: [0xFF, 0xC2, 0x00, 0x02, 0x04, 0x8F, 0x02, 0x03, 0x00]
            }
        }
    }

    /// A session command, with Le as programs for the RC-S300 send it, and without as those for the ACR1552U do.
    static func forms(of command: [UInt8]) -> [[UInt8]] { [command + [0x00], command] }

    /// Switches the field off and on, before the first Polling of a session. A card that the reader itself has looked
    /// for does not answer otherwise (EspUsbHost).
    static let fieldOff: [UInt8] = [0xFF, 0xC2, 0x00, 0x00, 0x02, 0x83, 0x00]
    static let fieldOn: [UInt8] = [0xFF, 0xC2, 0x00, 0x00, 0x02, 0x84, 0x00]
    /// How long the field stays off, and how long cards need afterwards; the values of felica-rs.
    static let (fieldOffTime, fieldOnTime) = (Duration.milliseconds(30), Duration.milliseconds(21))

    /// The longest frame of a card that fits into a short APDU with the data objects around it.
    static let longestAnswer = 241

    private static let timerTag = BERTag(rawValue: 0x5F46)
    private static let frameTag = BERTag(rawValue: 0x95)
    /// The frame follows the timer.
    private static let frameObject = 2
    /// The minimum that programs for the RC-S300 give a card. More costs time only when the card does not answer.
    private static let shortestTime = Duration.milliseconds(100)

    /// The pseudo-APDU that carries a frame, or `nil` when it is too long for one.
    ///
    /// The timer comes first: without it an RC-S300 sends nothing (EspUsbHost).
    ///
    /// - Parameter time: how long the card may take; 100 ms at least.
    static func exchange(_ frame: [UInt8], within time: Duration) -> [UInt8]? {
        let microseconds = UInt32(clamping: max(time, shortestTime).count(of: .microseconds(1)))
        var timer = ByteWriter()
        timer.write(microseconds, .little)
        let objects = BERTLV(timerTag, timer.bytes).encoded + BERTLV(frameTag, frame).encoded
        guard !frame.isEmpty, let length = UInt8(exactly: objects.count) else { return nil }
        return [0xFF, 0xC2, 0x00, 0x01, length] + objects + [0x00]
    }

    /// Whether the reader executed a session command, by its status word and the error within the answer.
    static func isDone(_ answer: [UInt8]) -> Bool {
        TransparentAnswer(answer)?.meaning == .done
    }

    /// Extracts the card's frame from the reader's answer; four-bit acknowledgements are one byte.
    ///
    /// - Parameter notPassed: the error for a refusal by the reader.
    /// - Throws: ``TransportError/noAnswer`` when the card did not answer, ``TransportError/corrupted(status:)`` when
    ///   its answer was damaged or the reader's is malformed, ``TransportError/cardReleased`` when the session has
    ///   ended, `notPassed`.
    static func frame(in answer: [UInt8], notPassed: TransportError) throws(TransportError) -> [UInt8] {
        _ = try PseudoAPDU.content(of: answer, notPassed: notPassed)
        guard let answer = TransparentAnswer(answer) else { throw .corrupted(status: 0) }
        switch answer.meaning(ofExchangeWithFrameAt: frameObject) {
        case .done: break
        case .silent: throw .noAnswer
        // Above the four bits of object 96.
        case .damaged: throw .corrupted(status: 0x10)
        case .wrongState: throw .cardReleased
        case .sessionIsOpen, .refused: throw notPassed
        }
        guard answer.damage == 0 else { throw .corrupted(status: answer.damage) }
        guard let frame = answer.frame, !frame.isEmpty else { throw .noAnswer }
        return frame
    }
}

/// Commands in the form of APDUs that are for the reader itself.
enum PseudoAPDU {
    /// `FF 00 00 00 Lc content`, which ACS readers forward; `nil` when the content is empty or too long.
    static func direct(_ content: [UInt8]) -> [UInt8]? {
        guard let length = UInt8(exactly: content.count), length > 0 else { return nil }
        return [0xFF, 0x00, 0x00, 0x00, length] + content
    }

    /// Returns the content of the answer.
    ///
    /// - Parameter notPassed: the error when the reader does not support the pseudo-APDU.
    /// - Throws: ``TransportError/noAnswer`` when the card did not answer: ACS readers say 6300, PC/SC part 3 6400 and
    ///   6401; `notPassed`; ``TransportError/corrupted(status:)`` when there is no status word.
    static func content(of answer: [UInt8], notPassed: TransportError) throws(TransportError) -> [UInt8] {
        guard answer.count >= 2 else { throw .corrupted(status: 0) }
        switch (answer[answer.count - 2], answer[answer.count - 1]) {
        case (0x90, 0x00): return Array(answer.dropLast(2))
        case (0x63, 0x00), (0x64, _): throw .noAnswer
        default: throw notPassed
        }
    }
}
