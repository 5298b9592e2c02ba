// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport

/// How to send a reader a FeliCa packet for the card: a pseudo-APDU around it, and a wrapping around the answer.
///
/// Sources: ACS manuals ACM1252U-Y3 1.03 p45 (plain), ACR122T API 2.02 p30 and AET62 p25 (through the PN532).
enum FeliCaWrapping: Hashable, Sendable, CaseIterable {
    /// `FF 00 00 00 Lc packet` gives `packet 9000`.
    case plain
    /// `FF 00 00 00 Lc D4 40 01 packet` gives `D5 41 00 packet 9000`: InDataExchange of the built-in PN532.
    case chip
    /// The transparent session of PC/SC part 3.
    case session

    /// The ways to try on a reader, the most likely one first. One that does not support a pseudo-APDU refuses it.
    static func ways(for reader: String) -> [FeliCaWrapping] {
        if ["ACR122", "AET62", "Touchatag"].contains(where: reader.contains) { return [.chip, .plain] }
        if ["ACR1251", "ACR1252", "ACM1252"].contains(where: reader.contains) { return [.plain, .chip] }
        if ["RC-S300", "RC-S660"].contains(where: reader.contains) { return [.session] }
        return [.plain, .chip, .session]
    }

    /// The pseudo-APDU that carries a packet, or `nil` when it is too long for one.
    ///
    /// - Parameter time: how long the card may take, where the reader supports setting it.
    func command(for packet: [UInt8], within time: Duration = .zero) -> [UInt8]? {
        switch self {
        case .plain: PseudoAPDU.direct(packet)
        case .chip: PseudoAPDU.direct([0xD4, 0x40, 0x01] + packet)
        case .session: TransparentSession.exchange(packet, within: time)
        }
    }

    /// The longest FeliCa answer that fits into a short APDU with the wrapping.
    var longestAnswer: Int {
        switch self {
        case .plain: 255
        case .chip: 253
        case .session: TransparentSession.longestAnswer
        }
    }

    /// Extracts the card's packet from the reader's answer.
    ///
    /// - Throws: ``TransportError/noAnswer`` when the card did not answer, ``TransportError/unsupported(detail:)`` when
    ///   the reader does not support the pseudo-APDU, ``TransportError/corrupted(status:)``.
    func packet(in answer: [UInt8]) throws(TransportError) -> [UInt8] {
        if self == .session {
            return try Self.whole(TransparentSession.frame(in: answer, notPassed: Self.notPassed))
        }
        let data = try PseudoAPDU.content(of: answer, notPassed: Self.notPassed)
        switch self {
        case .plain, .session: return try Self.whole(data)
        case .chip:
            guard data.count >= 3, data[0] == 0xD5, data[1] == 0x41 else { throw .corrupted(status: 0) }
            switch data[2] & 0x3F {
            case 0x00: return try Self.whole(Array(data[3...]))
            case 0x01: throw .noAnswer
            case 0x27, 0x29, 0x2B: throw .cardReleased
            default: throw .corrupted(status: data[2] & 0x3F)
            }
        }
    }

    /// The reader does not support it.
    static let notPassed = TransportError.unsupported(detail: .init(.noFeliCaThroughService))

    private static func whole(_ packet: [UInt8]) throws(TransportError) -> [UInt8] {
        guard !packet.isEmpty else { throw .noAnswer }
        guard let length = packet.first, Int(length) == packet.count else { throw .corrupted(status: 0) }
        return packet
    }
}
