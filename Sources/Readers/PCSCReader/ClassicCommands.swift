// SPDX-License-Identifier: Apache-2.0

internal import ReaderCore

/// The commands of MIFARE Classic as the pseudo-APDUs that PC/SC has for them; the reader does Crypto1 and knows the UID.
///
/// Sources: PC/SC part 3 §3.2.2 (`FF 82`, `FF 86`, `FF B0`, `FF D6`); ACS manuals ACR122T API 2.02 p20 (`FF D7`).
struct ClassicCommands {
    /// A volatile place for the key in the reader; most ACS readers with their own chip keep those below 20 forever.
    private let slot: UInt8
    /// Whether a sector has been opened, so that the frames that follow are those of MIFARE Classic.
    private(set) var isOpen = false
    /// An increment, decrement or restore that waits for its transfer.
    private var pending: [UInt8]?

    init(reader: String) {
        slot = ["ACR128", "ACR1222"].contains(where: reader.contains) ? 0x20 : 0x00
    }

    /// Forgets the sector, after the card was selected again.
    mutating func close() { (isOpen, pending) = (false, nil) }

    /// Sends one frame.
    ///
    /// - Throws: ``TransportError/corrupted(status:)`` with the status of a PN53x if the card refused,
    ///   ``TransportError/unsupported(detail:)`` if the reader does not support the command.
    mutating func transceive(
        _ frame: [UInt8], _ send: ([UInt8]) throws(TransportError) -> [UInt8]
    ) throws(TransportError) -> [UInt8] {
        guard let code = frame.first, frame.count > 1 else { throw .noAnswer }
        let block = frame[1]
        if ClassicFrame.isAuthentication(frame) {
            close()
            let load = try send([0xFF, 0x82, 0x00, slot, 0x06] + frame[ClassicFrame.key])
            guard load.suffix(2) == [0x90, 0x00] else { throw ClassicFrame.notPassed }
            // The first byte is a version; the RC-S300 has 00 there in its own protocol.
            for version in [0x01, 0x00] as [UInt8] {
                let answer = try send([0xFF, 0x86, 0x00, 0x00, 0x05, version, 0x00, block, code, slot])
                switch (answer.first, answer.last) {
                case (0x90, 0x00) where answer.count == 2:
                    isOpen = true
                    return []
                case (0x6A, 0x80), (0x6A, 0x86): continue
                case (0x6D, _), (0x6E, _), (0x6A, _), (0x68, _): throw ClassicFrame.notPassed
                default: throw .corrupted(status: Self.wrongKey)
                }
            }
            throw ClassicFrame.notPassed
        }
        switch (code, frame.count) {
        case (0x30, 2):
            let answer = try send([0xFF, 0xB0, 0x00, block, 0x10])
            guard answer.count == 18, answer.suffix(2) == [0x90, 0x00] else { throw .corrupted(status: Self.refused) }
            return Array(answer.dropLast(2))
        case (0xA0, 18): return try done(send([0xFF, 0xD6, 0x00, block, 0x10] + frame[2...]))
        case (0xC0, 6), (0xC1, 6):
            // The number is least significant byte first on the card, most significant first here.
            pending = [0xFF, 0xD7, 0x00, block, 0x05, code == 0xC1 ? 0x01 : 0x02] + frame[2...].reversed()
            return []
        case (0xC2, _):
            pending = [0xFF, 0xD7, 0x00, block, 0x02, 0x03]
            return []
        case (0xB0, _):
            guard let command = pending else { throw .corrupted(status: Self.refused) }
            pending = nil
            if command[5] == 0x03 { return try done(send(command + [block])) }
            // The result of an increment goes where the value was.
            guard command[3] == block else { throw ClassicFrame.notPassed }
            return try done(send(command))
        default: throw .corrupted(status: Self.refused)
        }
    }

    private func done(_ answer: [UInt8]) throws(TransportError) -> [UInt8] {
        guard answer == [0x90, 0x00] else { throw .corrupted(status: Self.refused) }
        return []
    }

    private static let wrongKey: UInt8 = 0x14
    private static let refused: UInt8 = 0x13
}
