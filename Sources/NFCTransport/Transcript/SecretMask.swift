// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Finds what of a frame nobody may read in a transcript: the data of VERIFY and the other PIN commands, also within
/// ISO-DEP blocks, and the password of a Type 2 Tag.
struct SecretMask {
    private var picc: PICC?
    /// Whether a chained block began with a PIN command and the next one goes on with it.
    private var continues = false

    /// A card was selected, or none was found: frames from now on are of its kind.
    mutating func activated(_ picc: PICC?) {
        self.picc = picc
        continues = false
    }

    /// The places of the frame that hold a secret, or `nil`. Of a kind of card that is not known, frames are taken for
    /// APDUs.
    mutating func secret(in frame: [UInt8]) -> Range<Int>? {
        if let picc {
            if picc.technology == .felica { return nil }
            // PWD_AUTH of NTAG and Ultralight EV1.
            if !picc.isISODEP { return frame.first == 0x1B && frame.count > 1 ? 1..<frame.count : nil }
        }
        return SecretMask.data(of: frame) ?? blockData(frame)
    }

    /// What follows the header of a PIN command.
    private static func data(of apdu: some RandomAccessCollection<UInt8>) -> Range<Int>? {
        guard let code = apdu.dropFirst().first, Instruction(rawValue: code).needsGuard, apdu.count > 5 else {
            return nil
        }
        return 4..<apdu.count
    }

    /// The same in an I-block, of which a chain may have several.
    private mutating func blockData(_ frame: [UInt8]) -> Range<Int>? {
        guard let pcb = frame.first, pcb & 0xE2 == 0x02 else { return nil }
        let start = 1 + (pcb & 0x08 != 0 ? 1 : 0) + (pcb & 0x04 != 0 ? 1 : 0)
        guard frame.count > start else { return nil }
        let isContinuation = continues
        let secret = SecretMask.data(of: frame[start...])
        continues = pcb & 0x10 != 0 && (isContinuation || secret != nil)
        if isContinuation { return start..<frame.count }
        return secret.map { start + $0.lowerBound..<frame.count }
    }
}
