// SPDX-License-Identifier: Apache-2.0

internal import ReaderCore

/// How a reader of the service sets its lights and its buzzer: by bytes of its maker, which differ between models.
///
/// Sources: ACS manuals ACM1252U-Y3 1.03 p47–48 and 86, ACR1255U p55–57, ACR122T API 2.02 p22–23; nfc-pcsc for the ACR122U. For
/// the ACR1552U's colors, one manual. Readers whose colors no source gives (ACR1251, ACR1281) are left out, and so are
/// settings that outlast the program (`E0 00 00 21`).
enum LightCommands: Hashable, Sendable {
    /// Escape commands of ACS readers with their own chip: the bits of their lights, the first in place of green, the second
    /// of red.
    case escape(green: UInt8, red: UInt8)
    /// The pseudo-APDU of the ACR122 family, which it also takes as an APDU while a card is there.
    case pseudoAPDU

    /// - Returns: `nil` for a reader whose lights are unknown.
    init?(reader: String) {
        func isOne(of names: [String]) -> Bool { names.contains(where: reader.contains) }
        if isOne(of: ["ACR122", "AET62", "Touchatag"]), !isOne(of: ["ACR1222"]) {
            self = .pseudoAPDU
        } else if isOne(of: ["ACR1252", "ACM1252"]) {
            self = .escape(green: 0x02, red: 0x01)
        } else if isOne(of: ["ACR1255"]) {
            self = .escape(green: 0x01, red: 0x02)
        } else if isOne(of: ["ACR1552"]) {
            // It has blue instead of red.
            self = .escape(green: 0x02, red: 0x01)
        } else {
            return nil
        }
    }

    /// The commands that show a signal: the lights first, which are seen at once, then the buzzer where it sounds.
    func commands(for signal: ReaderSignal) -> [[UInt8]] {
        let (isGreen, isRed) = (signal == .yes || signal == .fault, signal == .no || signal == .fault)
        switch self {
        case .escape(let green, let red):
            let lights: [UInt8] = [0xE0, 0x00, 0x00, 0x29, 0x01, (isGreen ? green : 0) | (isRed ? red : 0)]
            // In units of 10 ms. Only the ACR1552U is known to repeat a tone, so that length alone says which it is.
            let tone: UInt8
            switch signal {
            case .yes: tone = 10
            case .no: tone = 30
            case .fault: tone = 60
            case .off: return [lights]
            }
            return [lights, [0xE0, 0x00, 0x00, 0x28, 0x01, tone]]
        case .pseudoAPDU:
            // Bits 0 and 1: red and green afterwards; 2 and 3: both change.
            let state: UInt8 = 0x0C | (isGreen ? 0x02 : 0) | (isRed ? 0x01 : 0)
            let lights: [UInt8] = [0xFF, 0x00, 0x40, state, 0x04, 0x00, 0x00, 0x00, 0x00]
            // The halves of a blink in units of 100 ms, how many, and the buzzer in the first half.
            let blinks: [UInt8]
            switch signal {
            case .yes: blinks = [1, 0, 1]
            case .no: blinks = [1, 1, 3]
            case .fault: blinks = [6, 0, 1]
            case .off: return [lights]
            }
            return [lights, [0xFF, 0x00, 0x40, state, 0x04] + blinks + [0x01]]
        }
    }

    /// No beep when the reader finds a card, where that does not last as a setting of the reader.
    var noBeep: [UInt8]? {
        switch self {
        case .escape: nil
        case .pseudoAPDU: [0xFF, 0x00, 0x52, 0x00, 0x00]
        }
    }

    /// Whether the reader did it: `E1 00 00 00 …`, or 90 with the state of the lights behind it.
    func isDone(_ answer: [UInt8]) -> Bool {
        switch self {
        case .escape: answer.starts(with: [0xE1, 0x00, 0x00, 0x00])
        case .pseudoAPDU: answer.count == 2 && answer.first == 0x90
        }
    }
}

/// Which commands a driver lets programs send to the reader itself: PC/SC part 10, `CM_IOCTL_GET_FEATURE_REQUEST`.
enum DriverFeatures {
    /// SCARD_CTL_CODE(3400).
    static let request: UInt32 = 0x4200_0D48
    /// FEATURE_CCID_ESC_COMMAND.
    private static let escape: UInt8 = 0x13

    /// The control code of escape commands in a driver's list of tag, length and a value of four bytes, big-endian; `nil` when
    /// they are not allowed, as they are not by libccid's settings.
    static func escapeCode(in list: [UInt8]) -> UInt32? {
        var rest = list[...]
        while let tag = rest.popFirst(), let length = rest.popFirst(), rest.count >= Int(length) {
            let value = rest.prefix(Int(length))
            if tag == escape, length == 4 { return value.reduce(0) { $0 << 8 | UInt32($1) } }
            rest = rest.dropFirst(Int(length))
        }
        return nil
    }
}
