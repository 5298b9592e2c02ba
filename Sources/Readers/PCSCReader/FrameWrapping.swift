// SPDX-License-Identifier: Apache-2.0

internal import ReaderCore

/// How to send a reader a frame for the card: a pseudo-APDU around it, and a wrapping around the answer.
///
/// Sources: ACS manuals ACM1252U-Y3 1.03 p45 (plain), ACR122T API 2.02 p30 and AET62 p25 (through the PN532); Identiv manuals
/// uTrust 3700F p43 and 4701F p65 (pass-through).
enum FrameWrapping: Hashable, Sendable, CaseIterable {
    /// `FF 00 00 00 Lc frame` gives `answer 9000`: ACS readers with their own chip (ACR1251, ACR1252).
    case plain
    /// The same with a command of the built-in PN532 (ACR122): `FF 00 00 00 Lc D4 40 01 packet` gives
    /// `D5 41 00 packet 9000`.
    case chip
    /// `FF FE 00 00 Lc packet`: Identiv's uTrust readers. The manuals do not say whether the answer has a LEN byte.
    case passThrough
    /// A pseudo-APDU for each of six commands, ``ServiceCommands``: uTrust readers that pass on no packets.
    case services
    /// The transparent session of PC/SC part 3.
    case session

    /// What the frames are.
    enum Content: Hashable, Sendable {
        /// FeliCa packets.
        case felica
        /// Type 2 Tag commands for which PC/SC has none, such as GET_VERSION.
        case type2

        /// InDataExchange for FeliCa, InCommunicateThru for a tag.
        fileprivate var chipCommand: [UInt8] {
            switch self {
            case .felica: [0xD4, 0x40, 0x01]
            case .type2: [0xD4, 0x42]
            }
        }

        /// The reader does not support it.
        var notPassed: TransportError {
            switch self {
            case .felica: .unsupported(detail: .init(.noFeliCaThroughService))
            case .type2: .unsupported(detail: .init(.noType2ThroughService))
            }
        }
    }

    /// The ways to try on a reader, the most likely one first. One that does not support a pseudo-APDU refuses it; for
    /// tags, only the standard's own way is tried on an unknown reader.
    static func ways(for reader: String, _ content: Content) -> [FrameWrapping] {
        let isFeliCa = content == .felica
        if ["ACR122", "AET62", "Touchatag"].contains(where: reader.contains) {
            return isFeliCa ? [.chip, .plain] : [.chip]
        }
        if ["ACR1251", "ACR1252", "ACM1252"].contains(where: reader.contains) {
            return isFeliCa ? [.plain, .chip] : [.plain, .session]
        }
        if isFeliCa, Self.identiv.contains(where: reader.contains) { return [.passThrough, .services, .session] }
        // Circle publishes no pseudo-APDU: the standard's own way first.
        if isFeliCa, ["CIR215", "CIR315", "CIR415", "USB-NFC4"].contains(where: reader.contains) {
            return [.session, .plain]
        }
        let isPaSoRi = ["RC-S300", "RC-S660"].contains(where: reader.contains)
        return isFeliCa && !isPaSoRi ? [.plain, .chip, .session] : [.session]
    }

    /// Readers of Identiv that send FeliCa commands.
    private static let identiv = [
        "uTrust 3700", "uTrust 3701", "uTrust 3720", "uTrust 3721", "uTrust 4701", "uTrust 4711", "CLOUD 2700",
        "CLOUD 3700", "CLOUD 3701", "CLOUD 4700", "CLOUD 4701", "CLOUD 4710", "SCL3711",
    ]

    /// The pseudo-APDU that carries a frame, or `nil` when it is too long for one.
    ///
    /// - Parameter time: how long the card may take, where the reader supports setting it.
    func command(for frame: [UInt8], _ content: Content, within time: Duration = .zero) -> [UInt8]? {
        switch self {
        case .plain: PseudoAPDU.direct(frame)
        case .chip: PseudoAPDU.direct(content.chipCommand + frame)
        case .passThrough: PseudoAPDU.direct(frame).map { [0xFF, 0xFE, 0x00, 0x00] + $0.dropFirst(4) }
        case .services: nil
        case .session: TransparentSession.exchange(frame, within: time)
        }
    }

    /// The longest FeliCa answer that fits into a short APDU with the wrapping.
    var longestAnswer: Int {
        switch self {
        case .plain, .passThrough, .services: 255
        case .chip: 253
        case .session: TransparentSession.longestAnswer
        }
    }

    /// Extracts the card's frame from the reader's answer.
    ///
    /// - Throws: ``TransportError/noAnswer`` when the card did not answer, ``TransportError/unsupported(detail:)`` when
    ///   the reader does not support the pseudo-APDU, ``TransportError/corrupted(status:)``.
    func frame(in answer: [UInt8], _ content: Content) throws(TransportError) -> [UInt8] {
        let frame: [UInt8]
        switch self {
        case .session: frame = try TransparentSession.frame(in: answer, notPassed: content.notPassed)
        case .plain: frame = try PseudoAPDU.content(of: answer, notPassed: content.notPassed)
        case .services: throw content.notPassed
        case .passThrough:
            let data = try PseudoAPDU.content(of: answer, notPassed: content.notPassed)
            // Without LEN an answer begins with its code, which is odd or Echo's, and has an IDm behind it.
            guard let first = data.first, Int(first) != data.count, data.count >= 9, data.count < 0xFF else {
                frame = data
                break
            }
            frame = [UInt8(data.count + 1)] + data
        case .chip:
            let data = try PseudoAPDU.content(of: answer, notPassed: content.notPassed)
            guard data.count >= 3, data[0] == 0xD5, data[1] == content.chipCommand[1] + 1 else {
                throw .corrupted(status: 0)
            }
            switch (data[2] & 0x3F, content) {
            case (0x00, _): frame = Array(data[3...])
            case (0x01, _): throw .noAnswer
            case (0x27, .felica), (0x29, .felica), (0x2B, .felica): throw .cardReleased
            case (let status, _): throw .corrupted(status: status)
            }
        }
        guard let length = frame.first else { throw .noAnswer }
        if content == .felica, Int(length) != frame.count { throw .corrupted(status: 0) }
        return frame
    }
}
