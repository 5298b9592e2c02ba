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

extension CardFrameKind.Part {
    /// Writes this part of a frame.
    ///
    /// - Parameters:
    ///   - rest: what follows the parts before; the part's bytes are removed from it.
    ///   - uid: the UID of the selected card.
    func masked(_ rest: inout ArraySlice<UInt8>, uid: [UInt8], _ masks: inout IdentityMasks) -> [UInt8] {
        func take(_ count: Int) -> [UInt8] {
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        switch self {
        case .open(let count): return take(count)
        case .openRest: return take(rest.count)
        case .idm:
            let bytes = take(8)
            return bytes.count == 8 ? masks.idm(bytes) : bytes.map { _ in 0 }
        case .statusWord:
            let data = rest.dropLast(2).map { _ in UInt8(0) }
            defer { rest = [] }
            return data + rest.suffix(2)
        case .firstPages: return Self.firstPages(take(rest.count), uid, &masks)
        }
    }

    /// Pages 0 to 3 with a UID of seven bytes; of any other answer, nothing is written.
    private static func firstPages(_ pages: [UInt8], _ uid: [UInt8], _ masks: inout IdentityMasks) -> [UInt8] {
        guard pages.count == 16, uid.count == 7 else { return pages.map { _ in 0 } }
        let number = masks.uid(Array(pages[0..<3] + pages[4..<8]))
        let first = [number[0], number[1], number[2]]
        let last = Array(number[3...])
        let isContainer = pages[12] == 0xE1 && pages[13] >> 4 == 1
        return first + [first.reduce(0x88, ^)] + last + [last.reduce(0, ^), 0, pages[10], pages[11]]
            + (isContainer ? Array(pages[12...]) : [0, 0, 0, 0])
    }
}
