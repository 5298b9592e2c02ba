// SPDX-License-Identifier: Apache-2.0

/// The times of ISO 14443-4 that cards name by a power of two: the frame waiting time (FWI) and the start-up guard time
/// (SFGI), both 4096 / 13.56 MHz × 2ⁿ.
enum WaitingTime {
    /// 4096 / 13.56 MHz.
    private static let unit = Duration.nanoseconds(302_065)
    /// The time of code 14, which no extension may pass: 4.95 s.
    static let longest = unit * (1 << 14)
    /// What a reader adds before it takes a card for silent: 49152 / 13.56 MHz.
    static let margin = Duration.nanoseconds(3_624_779)
    /// How long the card may take to answer RATS, ATTRIB, DESELECT and SELECT, once it has been heard: the standard says
    /// 65536 / 13.56 MHz, 5 ms, nfcpy and the kernel give 30.
    static let activation = Duration.milliseconds(30)
    /// How long the card may take to answer REQA, WUPA, REQB and the anticollision commands, to which silence is a
    /// usual answer: the standard says less than 1 ms, nfcpy and the kernel give 30.
    static let request = Duration.milliseconds(10)

    /// The frame waiting time of a code; 15 is reserved and stands for 4.
    static func frame(code: UInt8) -> Duration {
        unit * (1 << Int(code < 15 ? code : 4))
    }

    /// The start-up frame guard time of a code; none for 0 and for the reserved 15.
    static func guardTime(code: UInt8) -> Duration {
        code == 0 || code > 14 ? .zero : unit * (1 << Int(code))
    }

    /// A frame waiting time that the card extended.
    static func extended(_ time: Duration, by multiplier: UInt8) -> Duration {
        min(time * Int(multiplier), longest)
    }
}
