// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport

/// How a reader is given a command of a Type 2 Tag for which PC/SC has no word of its own, such as GET_VERSION.
enum Type2Passage: Hashable, Sendable, CaseIterable {
    /// `FF 00 00 00 Lc frame` gives `answer 9000`: ACS readers with their own chip (ACR1251, ACR1252).
    case plain
    /// `FF 00 00 00 Lc D4 42 frame` gives `D5 43 00 answer 9000`: InCommunicateThru of the PN532 within (ACR122).
    case chip
    /// The transparent session of PC/SC part 3.
    case session

    /// The ways to try on a reader, the likely one first. A reader that does not know a pseudo-APDU refuses it; where
    /// nothing is known of a reader, only the standard's own way is tried.
    static func ways(for reader: String) -> [Type2Passage] {
        if ["ACR122", "AET62", "Touchatag"].contains(where: reader.contains) { return [.chip] }
        if ["ACR1251", "ACR1252", "ACM1252"].contains(where: reader.contains) { return [.plain, .session] }
        return [.session]
    }

    /// The pseudo-APDU that carries a frame, or `nil` when it is too long for one.
    ///
    /// - Parameter time: how long the tag may take, where the reader can be told.
    func command(for frame: [UInt8], within time: Duration = .zero) -> [UInt8]? {
        switch self {
        case .plain: PseudoAPDU.direct(frame)
        case .chip: PseudoAPDU.direct([0xD4, 0x42] + frame)
        case .session: TransparentSession.exchange(frame, within: time)
        }
    }

    /// The tag's frame out of the reader's answer.
    ///
    /// - Throws: ``TransportError/noAnswer`` when the tag kept silent, ``TransportError/unsupported(detail:)`` when the
    ///   reader does not know the pseudo-APDU, ``TransportError/corrupted(status:)``.
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

    /// The reader cannot do it.
    static let notPassed = TransportError.unsupported(
        detail: "this reader passes no such command of a Type 2 Tag on through PC/SC")
}
