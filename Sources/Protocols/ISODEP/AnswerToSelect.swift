// SPDX-License-Identifier: Apache-2.0

/// The ATS: the ISO-DEP parameters of a card of type A.
///
/// Source: ISO 14443-4, 5.2, as implemented publicly.
package struct AnswerToSelect: Hashable, Sendable {
    /// The whole ATS with its length byte TL.
    package let bytes: [UInt8]
    /// The longest frame that the card accepts.
    package let frameSize: FrameSize
    /// The longest time that the card takes for an answer.
    package let waitingTime: Duration
    /// How long the card needs before its first command.
    package let guardTime: Duration
    /// The bit rates that the card supports.
    package let bitRates: CardBitRates

    /// Parses an ATS.
    ///
    /// - Returns: `nil` when it is shorter than its length byte says.
    package init?(_ answer: [UInt8]) {
        guard let length = answer.first, length > 0, Int(length) <= answer.count else { return nil }
        bytes = Array(answer.prefix(Int(length)))
        var rest = bytes.dropFirst()
        let format = rest.popFirst() ?? 0x02
        frameSize = FrameSize(code: format & 0x0F)
        // TA, the bit rates; TB, the times; TC, the support of NAD and CID.
        var (rates, times): (UInt8, UInt8) = (0, 0x40)
        for bit: UInt8 in [0x10, 0x20, 0x40] where format & bit != 0 {
            guard let given = rest.popFirst() else { return nil }
            if bit == 0x10 { rates = given }
            if bit == 0x20 { times = given }
        }
        bitRates = CardBitRates(code: rates)
        waitingTime = WaitingTime.frame(code: times >> 4)
        guardTime = WaitingTime.guardTime(code: times & 0x0F)
    }
}

/// The bit rates above 106 kbit/s that a card supports: TA(1) of an ATS (ISO 14443-4, 5.2.4).
///
/// Each is given as a code n, for 106 kbit/s doubled n times.
package struct CardBitRates: Hashable, Sendable {
    /// The speeds of the two directions, by their codes.
    package struct Choice: Hashable, Sendable {
        package let toCard: UInt8
        package let fromCard: UInt8
    }

    private let code: UInt8

    /// Bits 1 to 3 are the speeds to the card, 5 to 7 those from it, and bit 8 demands the same both ways. A byte with the
    /// reserved bit 4 counts as 106 kbit/s only.
    init(code: UInt8) { self.code = code & 0x08 == 0 ? code : 0 }

    /// The highest speeds up to a code; `nil` if that is 106 kbit/s both ways.
    package func highest(upTo limit: UInt8) -> Choice? {
        func best(_ bits: UInt8) -> UInt8 { (1...3).last { $0 <= limit && bits >> ($0 - 1) & 1 != 0 } ?? 0 }
        let (sent, received) = (code & 0x07, code >> 4 & 0x07)
        let both = best(sent & received)
        let choice =
            code & 0x80 != 0
            ? Choice(toCard: both, fromCard: both) : Choice(toCard: best(sent), fromCard: best(received))
        return choice == Choice(toCard: 0, fromCard: 0) ? nil : choice
    }

    /// The highest speed up to a code that the card supports in both directions; 0 for 106 kbit/s.
    package func highestBothWays(upTo limit: UInt8) -> UInt8 {
        (1...3).last { $0 <= limit && (code & code >> 4) >> ($0 - 1) & 1 != 0 } ?? 0
    }
}

/// The ATQB: the parameters of a card of type B.
///
/// Source: ISO 14443-3, 7.9, as implemented publicly.
package struct AnswerToRequestB: Hashable, Sendable {
    /// The pseudo-unique identifier, four bytes.
    package let pupi: [UInt8]
    /// The application data, four bytes.
    package let applicationData: [UInt8]
    /// The protocol info: three bytes, four in an extended ATQB.
    package let protocolInfo: [UInt8]
    /// The longest frame that the card accepts.
    package let frameSize: FrameSize
    /// The longest time that the card takes for an answer.
    package let waitingTime: Duration
    /// How long the card needs before its first command.
    package let guardTime: Duration
    /// Whether the card supports ISO-DEP.
    package let supportsISODEP: Bool
    /// The bit rates that the card supports.
    package let bitRates: CardBitRates
    /// The third parameter of ATTRIB, returned to the card: the protocol type and the card's minimum TR2.
    let protocolType: UInt8

    /// Parses an ATQB.
    ///
    /// - Returns: `nil` when it is not an ATQB.
    package init?(_ answer: [UInt8]) {
        guard (12...13).contains(answer.count), answer.first == 0x50 else { return nil }
        pupi = Array(answer[1...4])
        applicationData = Array(answer[5...8])
        protocolInfo = Array(answer[9...])
        bitRates = CardBitRates(code: answer[9])
        frameSize = FrameSize(code: answer[10] >> 4)
        supportsISODEP = answer[10] & 0x01 != 0
        protocolType = answer[10] & 0x07
        waitingTime = WaitingTime.frame(code: answer[11] >> 4)
        guardTime = answer.count > 12 ? WaitingTime.guardTime(code: answer[12] >> 4) : .zero
    }
}

/// The longest frames that reader (FSD) and card (FSC) accept, as coded in ISO 14443-3 and -4 (FSDI, FSCI).
package struct FrameSize: Hashable, Sendable {
    /// The sizes in bytes, PCB and CRC included, by their code.
    private static let sizes = [16, 24, 32, 40, 48, 64, 96, 128, 256, 512, 1024, 2048, 4096]

    package let code: UInt8
    /// The bytes, PCB and CRC included.
    package let bytes: Int

    /// Creates the size of a code. Codes above C are reserved and map to the largest size.
    package init(code: UInt8) {
        let known = min(Int(code), Self.sizes.count - 1)
        self.code = UInt8(truncatingIfNeeded: known)
        bytes = Self.sizes[known]
    }

    /// Creates the largest size that fits in this many bytes; never less than the smallest, 16.
    package init(fitting bytes: Int) {
        let code = Self.sizes.lastIndex { $0 <= bytes } ?? 0
        self.init(code: UInt8(truncatingIfNeeded: code))
    }
}

/// The times of ISO 14443-4 that cards give as a power of two, 4096 / 13.56 MHz × 2ⁿ. They are the frame waiting time
/// (FWI) and the start-up guard time (SFGI).
enum WaitingTime {
    /// 4096 / 13.56 MHz.
    private static let unit = Duration.nanoseconds(302_065)
    /// The time of code 14, which no extension can exceed: 4.95 s.
    static let longest = unit * (1 << 14)
    /// The time that a reader adds before it treats a card as not answering: 49152 / 13.56 MHz.
    static let margin = Duration.nanoseconds(3_624_779)
    /// How long the card may take to answer RATS, ATTRIB, DESELECT and SELECT, once it has been heard. The standard
    /// says 65536 / 13.56 MHz, 5 ms; nfcpy and the kernel give 30.
    static let activation = Duration.milliseconds(30)
    /// How long the card may take to answer REQA, WUPA, REQB and the anticollision commands, which often get no answer.
    /// The standard says less than 1 ms; nfcpy and the kernel give 30.
    static let request = Duration.milliseconds(10)

    /// The frame waiting time of a code; 15 is reserved and treated as 4.
    static func frame(code: UInt8) -> Duration {
        unit * (1 << Int(code < 15 ? code : 4))
    }

    /// The start-up frame guard time of a code; none for 0 and for the reserved 15.
    static func guardTime(code: UInt8) -> Duration {
        code == 0 || code > 14 ? .zero : unit * (1 << Int(code))
    }

    /// A frame waiting time extended by the card.
    static func extended(_ time: Duration, by multiplier: UInt8) -> Duration {
        min(time * Int(multiplier), longest)
    }
}
