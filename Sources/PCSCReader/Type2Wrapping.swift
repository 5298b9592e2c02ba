// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport

/// How to send a reader a Type 2 Tag command for which PC/SC has no command, such as GET_VERSION.
enum Type2Wrapping: Hashable, Sendable, CaseIterable {
    /// `FF 00 00 00 Lc frame` gives `answer 9000`: ACS readers with their own chip (ACR1251, ACR1252).
    case plain
    /// `FF 00 00 00 Lc D4 42 frame` gives `D5 43 00 answer 9000`: InCommunicateThru of the built-in PN532 (ACR122).
    case chip
    /// The transparent session of PC/SC part 3.
    case session

    /// The ways to try on a reader, the most likely one first. A reader that does not support a pseudo-APDU refuses it;
    /// for an unknown reader, only the standard's own way is tried.
    static func ways(for reader: String) -> [Type2Wrapping] {
        if ["ACR122", "AET62", "Touchatag"].contains(where: reader.contains) { return [.chip] }
        if ["ACR1251", "ACR1252", "ACM1252"].contains(where: reader.contains) { return [.plain, .session] }
        return [.session]
    }

    /// The pseudo-APDU that carries a frame, or `nil` when it is too long for one.
    ///
    /// - Parameter time: how long the tag may take, where the reader supports setting it.
    func command(for frame: [UInt8], within time: Duration = .zero) -> [UInt8]? {
        switch self {
        case .plain: PseudoAPDU.direct(frame)
        case .chip: PseudoAPDU.direct([0xD4, 0x42] + frame)
        case .session: TransparentSession.exchange(frame, within: time)
        }
    }

    /// Extracts the tag's frame from the reader's answer.
    ///
    /// - Throws: ``TransportError/noAnswer`` when the tag did not answer, ``TransportError/unsupported(detail:)`` when
    ///   the reader does not support the pseudo-APDU, ``TransportError/corrupted(status:)``.
    func frame(in answer: [UInt8]) throws(TransportError) -> [UInt8] {
        if self == .session { return try TransparentSession.frame(in: answer, notPassed: Self.notPassed) }
        let data = try PseudoAPDU.content(of: answer, notPassed: Self.notPassed)
        guard self == .chip else {
            guard !data.isEmpty else { throw .noAnswer }
            return data
        }
        guard data.count >= 3, data[0] == 0xD5, data[1] == 0x43 else { throw .corrupted(status: 0) }
        switch data[2] & 0x3F {
        case 0x00 where data.count > 3: return Array(data[3...])
        case 0x00, 0x01: throw .noAnswer
        default: throw .corrupted(status: data[2] & 0x3F)
        }
    }

    /// The reader does not support it.
    static let notPassed = TransportError.unsupported(
        detail: .init(.noType2ThroughService))
}

/// A command of a Type 2 Tag as the pseudo-APDU that PC/SC has for it, which every reader supports.
///
/// Source: PC/SC part 3 §3.2.2: READ BINARY `FF B0`, UPDATE BINARY `FF D6`, both with the page as P2.
enum StorageCommand: Hashable, Sendable {
    /// READ: four pages.
    case read(page: UInt8)
    case write(page: UInt8, data: [UInt8])

    /// - Returns: `nil` for commands without a PC/SC equivalent, such as GET_VERSION.
    init?(_ frame: [UInt8]) {
        switch (frame.first, frame.count) {
        case (0x30, 2): self = .read(page: frame[1])
        case (0xA2, 6): self = .write(page: frame[1], data: Array(frame[2...]))
        default: return nil
        }
    }

    /// The pseudo-APDU.
    var apdu: [UInt8] {
        switch self {
        case .read(let page): [0xFF, 0xB0, 0x00, page, 0x10]
        case .write(let page, let data): [0xFF, 0xD6, 0x00, page, 0x04] + data
        }
    }

    /// Extracts the tag's answer from the reader's: 16 bytes, or the four-bit ACK or NAK as one byte.
    ///
    /// A reader distinguishes a refusal from a missing answer only by its status word: 63xx and 64xx, which most give
    /// for both, count as no answer.
    func answer(in reply: [UInt8]) throws(TransportError) -> [UInt8] {
        guard reply.count >= 2 else { throw .corrupted(status: 0) }
        switch (reply[reply.count - 2], self) {
        case (0x90, .read):
            guard reply.count == 18 else { throw .corrupted(status: 0) }
            return Array(reply.dropLast(2))
        case (0x90, .write): return [0x0A]
        case (0x63...0x65, _): throw .noAnswer
        default: return [0x00]
        }
    }
}
