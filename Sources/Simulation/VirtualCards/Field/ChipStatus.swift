// SPDX-License-Identifier: Apache-2.0

/// The status bytes that a simulated chip generates itself.
package enum ChipStatus {
    /// Done.
    package static let success: UInt8 = 0x00
    /// The card did not answer.
    package static let timeout: UInt8 = 0x01
    /// The CRC of an answer is wrong or missing.
    package static let wrongChecksum: UInt8 = 0x02
    /// Several cards answered at once.
    package static let collision: UInt8 = 0x06
    /// The chip's own buffer is too small.
    package static let bufferTooSmall: UInt8 = 0x07
    /// The card violated its protocol.
    package static let protocolError: UInt8 = 0x0B
    /// The answer does not have the form of the command's answer: a NAK of a MIFARE card.
    package static let wrongFormat: UInt8 = 0x13
    /// The card refused the key.
    package static let authentication: UInt8 = 0x14
    /// There is no such target.
    package static let wrongContext: UInt8 = 0x27
    /// The target was released.
    package static let released: UInt8 = 0x29
    /// Set in a status: more of the answer can be fetched.
    package static let moreInformation: UInt8 = 0x40
}
