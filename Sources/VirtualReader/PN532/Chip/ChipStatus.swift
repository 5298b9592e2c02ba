// SPDX-License-Identifier: Apache-2.0

/// The status byte of an answer, as far as a simulated chip makes one up itself.
enum ChipStatus {
    /// Done.
    static let success: UInt8 = 0x00
    /// The card has not answered.
    static let timeout: UInt8 = 0x01
    /// The CRC of an answer is wrong, or is not there.
    static let wrongChecksum: UInt8 = 0x02
    /// Several cards answered at once.
    static let collision: UInt8 = 0x06
    /// The chip's own buffer is too small.
    static let bufferTooSmall: UInt8 = 0x07
    /// The card broke the rules of its protocol.
    static let protocolError: UInt8 = 0x0B
    /// The answer is not what the command's answer looks like: a NAK of a MIFARE card.
    static let wrongFormat: UInt8 = 0x13
    /// The card refused the key.
    static let authentication: UInt8 = 0x14
    /// There is no such target.
    static let wrongContext: UInt8 = 0x27
    /// The target was released.
    static let released: UInt8 = 0x29
    /// Set in a status: more of the answer is to be fetched.
    static let moreInformation: UInt8 = 0x40
}
