// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import ReaderCore

/// A message from an ACR122U: CCID's RDR_to_PC_DataBlock.
///
/// To the reader `6F LEN slot seq 00 00 00` and LEN bytes, from it `80 LEN slot seq status error 00` and LEN bytes; LEN
/// is four bytes, little-endian. The error byte means nothing beside data: 81 in traces of ACS's own readers, FE in one
/// of a copy. Sources: CCID 1.1, chapter 6; traces in libnfc issues 263, 476 and 691 and nfcpy issue 200.
struct ACR122Message: Hashable, Sendable {
    /// The number of the message that it answers.
    let sequence: UInt8
    /// Whether the command needs more time, and another message follows.
    let needsTime: Bool
    let data: [UInt8]

    /// Longer than any answer: the reader's dwMaxCCIDMessageLength is 271.
    static let longestData = 2048
    static let headerLength = 10
    private static let (powerOn, transfer, dataBlock): (UInt8, UInt8, UInt8) = (0x62, 0x6F, 0x80)

    /// PC_to_RDR_IccPowerOn at 5 V, which must come first.
    static func powerOn(sequence: UInt8) -> [UInt8] {
        [powerOn, 0x00, 0x00, 0x00, 0x00, 0x00, sequence, 0x01, 0x00, 0x00]
    }

    /// PC_to_RDR_XfrBlock with a pseudo APDU.
    static func transfer(_ data: [UInt8], sequence: UInt8) -> [UInt8] {
        var writer = ByteWriter([transfer])
        writer.write(UInt32(truncatingIfNeeded: data.count), .little)
        return writer.bytes + [0x00, sequence, 0x00, 0x00, 0x00] + data
    }

    /// Parses one transfer; `nil` when it is not a whole message.
    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard (try? reader.readUInt8()) == Self.dataBlock, let length = try? reader.readUInt32(.little),
            let header = try? reader.readBytes(5), length <= UInt32(Self.longestData),
            let data = try? reader.readBytes(Int(length)), reader.remaining == 0
        else { return nil }
        sequence = header[header.startIndex + 1]
        needsTime = header[header.startIndex + 2] >> 6 == 2
        self.data = Array(data)
    }
}

/// The pseudo APDUs of an ACR122U, and its answers.
///
/// Sources: ACS's API documents of the ACR122U and ACR122T; libnfc 1.8.0 (`drivers/acr122_usb.c`); nfcpy (`acr122.py`).
enum ACR122Command {
    /// Passes a command on to the PN532; the longest has 254 bytes.
    static func chip(_ command: [UInt8]) -> [UInt8] {
        [0xFF, 0x00, 0x00, 0x00, UInt8(truncatingIfNeeded: command.count + 1), 0xD4] + command
    }

    /// GET RESPONSE, for an answer that some versions announce with 61 and its length.
    static func rest(_ length: UInt8) -> [UInt8] { [0xFF, 0xC0, 0x00, 0x00, length] }

    /// PICC operating parameters 00: no automatic polling, which would disturb the host's, and no beep with it.
    static let noPolling: [UInt8] = [0xFF, 0x00, 0x51, 0x00, 0x00]

    /// Asks for the firmware's name, such as `ACR122U216`, which comes without a status word.
    static let firmware: [UInt8] = [0xFF, 0x00, 0x48, 0x00, 0x00]

    /// No beep when the reader finds a card. Whether that survives a reset is not known, so it is sent at each opening.
    static let noBeep: [UInt8] = [0xFF, 0x00, 0x52, 0x00, 0x00]

    /// Sets the lights at once, without blinking: green, red, both or none.
    static func lights(_ signal: ReaderSignal) -> [UInt8] {
        [0xFF, 0x00, 0x40, finalState(signal), 0x04, 0x00, 0x00, 0x00, 0x00]
    }

    /// Sounds the buzzer: once, three times or once for long; `nil` where it stays quiet.
    ///
    /// The reader answers when it is over.
    static func tone(_ signal: ReaderSignal) -> (command: [UInt8], duration: Duration)? {
        // The halves of a blink in units of 100 ms, how many blinks, and the buzzer in the first half.
        let (first, second, count): (UInt8, UInt8, UInt8)
        switch signal {
        case .yes: (first, second, count) = (1, 0, 1)
        case .no: (first, second, count) = (1, 1, 3)
        case .fault: (first, second, count) = (6, 0, 1)
        case .off: return nil
        }
        return (
            [0xFF, 0x00, 0x40, finalState(signal), 0x04, first, second, count, 0x01],
            .milliseconds((Int(first) + Int(second)) * Int(count) * 100)
        )
    }

    /// Bits 0 and 1: red and green afterwards; 2 and 3: both change.
    private static func finalState(_ signal: ReaderSignal) -> UInt8 {
        switch signal {
        case .yes: 0x0E
        case .no: 0x0D
        case .fault: 0x0F
        case .off: 0x0C
        }
    }

    /// Whether the reader did it. The second byte after 90 is the state of the lights, and not 00; 63 00 is a refusal.
    ///
    /// - Returns: `nil` for any other answer.
    static func isDone(_ data: [UInt8]) -> Bool? {
        guard data.count == 2 else { return nil }
        return data[0] == 0x90 ? true : data[0] == 0x63 ? false : nil
    }

    /// The result of a command for the chip.
    enum ChipReply: Hashable, Sendable {
        /// The bytes after D5 and the code.
        case answer([UInt8])
        /// More of it has to be fetched, of this length.
        case more(UInt8)
        /// The chip did not answer the reader in time.
        case silent
        /// The chip or the reader refused the command.
        case refused
        /// Something else: not this command's answer.
        case other
    }

    /// Interprets the answer to ``chip(_:)`` with a command of this code.
    static func reply(_ data: [UInt8], to code: UInt8) -> ChipReply {
        if data.isEmpty { return .silent }
        if data.count == 2 {
            switch (data[0], data[1]) {
            case (0x61, let length): return .more(length)
            case (0x63, 0x01): return .silent
            case (0x63, _): return .refused
            default: return .other
            }
        }
        guard data.count >= 4, data[0] == 0xD5, data[1] == code &+ 1, data.suffix(2) == [0x90, 0x00] else {
            return .other
        }
        return .answer(Array(data.dropFirst(2).dropLast(2)))
    }
}
