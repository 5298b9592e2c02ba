// SPDX-License-Identifier: Apache-2.0

import CardModel
import NFCTransport

/// What `--redact` makes of frames to and from cards of type A and B. Nobody knows what a file or page holds, so all of
/// it becomes 00; such a trace shows what was asked and how the card answered, not what the card says.
enum ISO14443Redaction {
    /// Data up to this length stays: flags and counters, and whether a file is empty.
    private static let harmless = 3

    /// A command without what it writes.
    static func command(_ frame: [UInt8], isAPDU: Bool) -> [UInt8] {
        guard isAPDU else { return masked(frame, keeping: 2) }
        guard frame.count > 5 else { return frame }
        switch Instruction(rawValue: frame[1] & 0xFE) {
        case .updateBinary, .updateRecord, .writeBinary: return masked(frame, keeping: 5)
        default: return frame
        }
    }

    /// An answer without its data; the status word stays.
    static func answer(_ frame: [UInt8], isAPDU: Bool) -> [UInt8] {
        guard isAPDU else { return frame.count > harmless ? masked(frame, keeping: 0) : frame }
        return frame.count > harmless + 2 ? masked(Array(frame.dropLast(2)), keeping: 0) + frame.suffix(2) : frame
    }

    private static func masked(_ frame: [UInt8], keeping count: Int) -> [UInt8] {
        frame.prefix(count) + frame.dropFirst(count).map { _ in 0 }
    }
}

extension Redaction {
    /// A card of type A keeps the first byte of its UID (its maker, or 08 for a random one) and what kind of card it
    /// is; one of type B loses its PUPI.
    func apply(_ picc: PICC) -> PICC {
        guard isOn else { return picc }
        switch picc {
        case .typeA(var target):
            target.uid = target.uid.prefix(1) + target.uid.dropFirst().map { _ in 0 }
            return .typeA(target)
        case .typeB(var target):
            target.pupi = target.pupi?.map { _ in 0 }
            return .typeB(target)
        case .felica(var target):
            target.idm = apply(target.idm)
            return .felica(target)
        @unknown default: return picc
        }
    }
}
