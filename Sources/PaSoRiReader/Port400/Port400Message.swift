// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// What goes over the USB between a Port-400 and its host: an escape message of CCID's on the vendor's own interface.
///
/// To the reader `6B LEN slot seq 00 00 00` and LEN bytes, from it `83 LEN slot seq status error 00` and LEN bytes; LEN is
/// four bytes, little-endian. Sources: felica-rs's `port400/pcsc.rs`, pasorich's `s300-driver.js`, CCID 1.10.
struct Port400Message: Hashable, Sendable {
    /// What became of a command.
    enum Status: Hashable, Sendable {
        /// It is done.
        case done
        /// The slot works on something else: try again later.
        case busy
        /// It needs more time; another message follows.
        case moreTime
        /// It failed, with CCID's error number.
        case failed(error: UInt8)
    }

    /// The command's number, which its answer repeats.
    let sequence: UInt8
    let status: Status
    let data: [UInt8]

    /// What an answer begins with.
    static let answerType: UInt8 = 0x83
    private static let commandType: UInt8 = 0x6B
    private static let slotBusy: UInt8 = 0xE0

    /// A command as it is sent.
    static func command(_ data: [UInt8], sequence: UInt8) -> [UInt8] {
        var writer = ByteWriter([commandType])
        writer.write(UInt32(truncatingIfNeeded: data.count), .little)
        return writer.bytes + [0x00, sequence, 0x00, 0x00, 0x00] + data
    }

    init(sequence: UInt8, status: UInt8, error: UInt8, data: [UInt8]) {
        self.sequence = sequence
        self.data = data
        // The two upper bits say what became of the command; the others, what is in the slot.
        self.status =
            switch status >> 6 {
            case 0: .done
            case 2: .moreTime
            case 1 where error == Self.slotBusy: .busy
            default: .failed(error: error)
            }
    }
}
