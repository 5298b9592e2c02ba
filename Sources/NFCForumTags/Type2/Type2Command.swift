// SPDX-License-Identifier: Apache-2.0

/// The commands of Type 2 Tags that Kazasu sends, without their CRC. Sources: NXP data sheets, nfcpy `tt2.py`.
public enum Type2Command {
    /// READ: sixteen bytes, four pages, from a page on; at the end of the memory it goes on with page 0.
    static func read(_ page: UInt8) -> [UInt8] { [0x30, page] }
    /// FAST_READ: all pages from the first to the last.
    static func fastRead(_ first: UInt8, _ last: UInt8) -> [UInt8] { [0x3A, first, last] }
    /// WRITE: the four bytes of one page.
    static func write(_ page: UInt8, _ bytes: [UInt8]) -> [UInt8] { [0xA2, page] + bytes }
    /// GET_VERSION: eight bytes.
    static let getVersion: [UInt8] = [0x60]
    /// READ_CNT: three bytes, least significant first.
    static func readCounter(_ number: UInt8) -> [UInt8] { [0x39, number] }
    /// READ_SIG: 32 bytes.
    static let readSignature: [UInt8] = [0x3C, 0x00]
    /// The first part of Ultralight C's AUTHENTICATE: `AF` and eight bytes. Nothing is authenticated by it.
    static let authenticate: [UInt8] = [0x1A, 0x00]
    /// What the first answer and the second part of AUTHENTICATE begin with.
    static let more: UInt8 = 0xAF
    /// What the last answer to AUTHENTICATE begins with.
    static let done: UInt8 = 0x00
    /// Whether an answer is that to the first part of AUTHENTICATE.
    static func isChallenge(_ answer: [UInt8]) -> Bool { answer.count == 9 && answer.first == more }
    /// The first part of SECTOR_SELECT.
    static let sectorSelect: [UInt8] = [0xC2, 0xFF]
    /// The second part of SECTOR_SELECT; silence is success.
    static func sector(_ number: UInt8) -> [UInt8] { [number, 0x00, 0x00, 0x00] }

    /// What the data sheets call a command, by its code.
    public static func name(of code: UInt8) -> String? {
        switch code {
        case 0x30: "READ"
        case 0x3A: "FAST_READ"
        case 0xA2: "WRITE"
        case 0x60: "GET_VERSION"
        case 0x39: "READ_CNT"
        case 0x3C: "READ_SIG"
        case 0x1A: "AUTHENTICATE"
        case 0xC2: "SECTOR_SELECT"
        default: nil
        }
    }

    /// The acknowledgement, four bits.
    static let ack: UInt8 = 0x0A
    /// The most pages of one FAST_READ, so that the answer fits into every reader.
    static let fastPages: UInt16 = 60
}
