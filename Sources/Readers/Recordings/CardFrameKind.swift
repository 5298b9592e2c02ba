// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import ReaderCore

/// The parts of a command to a card and of its answer, and whether the course may send it: the table by which frames are
/// masked. A byte that no part claims becomes 00.
struct CardFrameKind {
    /// A part of a frame.
    enum Part {
        /// So many bytes that identify nobody: codes, lengths, flags, versions.
        case open(Int)
        /// All bytes from here to the end of the frame, the same.
        case openRest
        /// Eight bytes.
        case idm
        /// The answer to READ of page 0: the UID with its check bytes, lock bytes and the capability container.
        case firstPages
        /// The last two bytes of a response APDU; what is before them is not written.
        case statusWord
    }

    /// Whether ``ReaderCourse`` may send it. Everything else is only in the recording of a problem.
    let isHarmless: Bool
    let command: [Part]
    let answer: [Part]

    init(_ isHarmless: Bool, _ command: [Part], _ answer: [Part]) {
        (self.isHarmless, self.command, self.answer) = (isHarmless, command, answer)
    }

    /// The kind of a frame for a card of this technology.
    ///
    /// - Parameter isISODEP: whether frames are APDUs.
    static func of(_ frame: [UInt8], _ technology: Technology, isISODEP: Bool) -> CardFrameKind {
        switch technology {
        case .felica: felica(frame)
        case .typeA where !isISODEP: type2(frame)
        case .typeA, .typeB: apdu(frame)
        }
    }

    // MARK: FeliCa

    /// LEN and code, IDm.
    private static let header: [Part] = [.open(2), .idm]
    /// The same with the status flags of an answer.
    private static let flags: [Part] = [.open(2), .idm, .open(2)]
    private static let unknown = CardFrameKind(false, header, header)
    /// A frame for a card that nobody knows.
    static let ofNoCard = CardFrameKind(false, [], [])

    /// The commands whose parameters and answers are codes, key versions and flags: Request Service, Request Response, Search
    /// Service Code, Request System Code, Request Block Information, Request Code List, Request Service v2, Request
    /// Specification Version.
    private static let codes: Set<UInt8> = [0x02, 0x04, 0x0A, 0x0C, 0x0E, 0x1A, 0x32, 0x3C]

    private static func felica(_ frame: [UInt8]) -> CardFrameKind {
        guard frame.count >= 2, Int(frame[0]) == frame.count else { return unknown }
        switch frame[1] {
        // Polling: IDm, PMm and what was asked for.
        case 0x00 where frame.count == 6: return CardFrameKind(true, [.openRest], header + [.open(10)])
        case let code where codes.contains(code): return CardFrameKind(true, header + [.openRest], header + [.openRest])
        // Get System Status: flags.
        case 0x38: return CardFrameKind(true, header + [.openRest], flags)
        // Read Without Encryption: flags and the number of blocks, never a block.
        case 0x06:
            return CardFrameKind(isUnreadable(frame), header + [.openRest], flags + [.open(1)])
        default: return unknown
        }
    }

    /// Whether a Read Without Encryption names service FFFF alone, which no card has.
    private static func isUnreadable(_ frame: [UInt8]) -> Bool {
        guard frame.count > 11, frame[10] > 0 else { return false }
        let codes = frame[11...].prefix(2 * Int(frame[10]))
        return codes.count == 2 * Int(frame[10]) && codes.allSatisfy { $0 == 0xFF }
    }

    // MARK: Type 2 Tags

    private static func type2(_ frame: [UInt8]) -> CardFrameKind {
        switch (frame.first, frame.count) {
        // GET_VERSION.
        case (0x60, 1): CardFrameKind(true, [.openRest], [.open(8)])
        // READ_SIG, whose answer is a signature over the UID.
        case (0x3C, 2): CardFrameKind(true, [.openRest], [])
        case (0x30, 2): CardFrameKind(frame[1] == 0, [.openRest], frame[1] == 0 ? [.firstPages] : [])
        default: CardFrameKind(false, [.open(1)], [])
        }
    }

    // MARK: ISO-DEP

    /// A name that no application has: proprietary, random.
    static let strangeName: [UInt8] = [0xF0, 0x5A, 0x91, 0x3C, 0x07, 0xE4, 0x4B, 0xD2, 0x68, 0x1F]

    /// SELECT of ``strangeName``.
    static let strangeSelection: [UInt8] = [0x00, 0xA4, 0x04, 0x00, UInt8(strangeName.count)] + strangeName + [0x00]

    private static func apdu(_ frame: [UInt8]) -> CardFrameKind {
        guard frame.count >= 4 else { return CardFrameKind(false, [], [.statusWord]) }
        switch frame[1] {
        case 0xA4: return CardFrameKind(frame == strangeSelection, [.openRest], [.statusWord])
        // READ BINARY and READ RECORD name a place and a length.
        case let code where (code == 0xB0 || code == 0xB2) && frame.count <= 7:
            return CardFrameKind(false, [.openRest], [.statusWord])
        // The header and the length of the data.
        default: return CardFrameKind(false, [.open(5)], [.statusWord])
        }
    }
}
