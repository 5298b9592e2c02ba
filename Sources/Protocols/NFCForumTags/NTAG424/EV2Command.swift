// SPDX-License-Identifier: Apache-2.0

/// A command of NTAG 424 DNA, and what of it and of its answer goes through code and cipher.
///
/// Source: NT4H2421Gx data sheet, §10; NXP AN12196.
struct EV2Command: Hashable, Sendable {
    /// How a command travels.
    enum Protection: Hashable, Sendable {
        /// With a code, whatever the file.
        case mac
        /// Enciphered and with a code, whatever the file.
        case full
        /// As the file's settings say, for an owner of a right.
        case file
    }

    /// The code that answers a command.
    enum Proof: Hashable, Sendable {
        case required
        /// A tag may leave it out; a wrong one is refused.
        case optional
        /// The session ends with the command, so that there is none.
        case none
    }

    let code: UInt8
    /// The number of bytes at the beginning of the data that are never enciphered.
    let header: Int
    let protection: Protection
    var proof = Proof.required

    /// The UID, enciphered.
    static let uid = EV2Command(code: 0x51, header: 0, protection: .full)
    static let keyVersion = EV2Command(code: 0x64, header: 1, protection: .mac)
    static let settings = EV2Command(code: 0xF5, header: 1, protection: .mac)
    static let read = EV2Command(code: 0xAD, header: 7, protection: .file)
    static let write = EV2Command(code: 0x8D, header: 7, protection: .file)
    static let changeSettings = EV2Command(code: 0x5F, header: 1, protection: .full)
    static let configure = EV2Command(code: 0x5C, header: 1, protection: .full, proof: .optional)
    /// The switch to LRP mode, which ends the session.
    static let configureLRP = EV2Command(code: 0x5C, header: 1, protection: .full, proof: .none)
    static let changeKey = EV2Command(code: 0xC4, header: 1, protection: .full)
    /// Of the key that opened the session.
    static let changeOwnKey = EV2Command(code: 0xC4, header: 1, protection: .full, proof: .none)

    /// The mode of the command and its answer.
    ///
    /// - Parameter file: the mode that a file's settings give.
    func mode(_ file: EV2Session.Mode = .plain) -> EV2Session.Mode {
        switch protection {
        case .mac: .mac
        case .full: .full
        case .file: file
        }
    }
}

/// What ChangeKey sends behind the key's number.
///
/// Source: NXP AN12196, §6.16.
enum EV2KeyChange {
    /// The key of the session: the new key and its version.
    static func own(_ new: [UInt8], version: UInt8) -> [UInt8] { new + [version] }

    /// Another key: the difference to the old one, the version and the new key's CRC.
    static func other(_ new: [UInt8], old: [UInt8], version: UInt8) -> [UInt8] {
        zip(new, old).map { $0 ^ $1 } + [version] + checksum(new)
    }

    /// CRC-32 of IEEE 802.3 without the inversion at its end, least significant byte first.
    static func checksum(_ bytes: [UInt8]) -> [UInt8] {
        let value = bytes.reduce(UInt32.max) { value, byte in
            (0..<8).reduce(value ^ UInt32(byte)) { value, _ in (value >> 1) ^ (value & 1 == 0 ? 0 : 0xEDB8_8320) }
        }
        return (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}

/// The status words of NTAG 424 DNA.
enum EV2Status {
    static let success: UInt16 = 0x9100
    static let more: UInt16 = 0x91AF
    static let noSuchKey: UInt16 = 0x9140
    static let parameter: UInt16 = 0x919E
    static let denied: UInt16 = 0x919D
    static let delay: UInt16 = 0x91AD
}
