// SPDX-License-Identifier: Apache-2.0

/// The Type 2 Tags that can be simulated; the raw values are those of card files.
public enum Type2Model: String, Hashable, Sendable, CaseIterable {
    /// MIFARE Ultralight.
    case ultralight
    /// MIFARE Ultralight C.
    case ultralightC
    /// MIFARE Ultralight EV1, 48 bytes for the user.
    case mf0ul11, mf0ulh11
    /// MIFARE Ultralight EV1, 128 bytes for the user.
    case mf0ul21, mf0ulh21
    /// The NTAGs, the 21x with password and signature.
    case ntag203, ntag210, ntag212, ntag213, ntag215, ntag216

    /// Where things are; page numbers as in NXP's data sheets.
    var layout: Type2Layout {
        switch self {
        case .ultralight: Type2Layout(pages: 16, capability: nil)
        case .ultralightC:
            Type2Layout(
                pages: 48, lastReadable: 0x2B, capability: [0xE1, 0x10, 0x12, 0x00], locks: .groupsOfFour(page: 0x28),
                counter: .page(0x29))
        case .mf0ul11: .ev1(0x0B, subtype: 1, pages: 20, config: 0x10)
        case .mf0ulh11: .ev1(0x0B, subtype: 2, pages: 20, config: 0x10)
        case .mf0ul21: .ev1(0x0E, subtype: 1, pages: 41, config: 0x25, locks: .pairs(page: 0x24, unit: 2))
        case .mf0ulh21: .ev1(0x0E, subtype: 2, pages: 41, config: 0x25, locks: .pairs(page: 0x24, unit: 2))
        case .ntag203:
            Type2Layout(
                pages: 42, capability: [0xE1, 0x10, 0x12, 0x00],
                message: [0x01, 0x03, 0xA0, 0x10, 0x44, 0x03, 0x00, 0xFE], locks: .groupsOfFour(page: 0x28),
                counter: .page(0x29), refusesUnknown: true)
        case .ntag210:
            .ntag(0x0B, subtype: 1, pages: 20, size: 0x06, config: 0x10, locks: nil, message: [0x03, 0x00, 0xFE])
        case .ntag212:
            .ntag(
                0x0E, subtype: 1, pages: 41, size: 0x10, config: 0x25, locks: .pairs(page: 0x24, unit: 2),
                message: [0x01, 0x03, 0x90, 0x0A, 0x34, 0x03, 0x00, 0xFE])
        case .ntag213:
            .ntag(
                0x0F, subtype: 2, pages: 45, size: 0x12, config: 0x29, locks: .pairs(page: 0x28, unit: 2),
                message: [0x01, 0x03, 0xA0, 0x0C, 0x34, 0x03, 0x00, 0xFE])
        case .ntag215:
            .ntag(
                0x11, subtype: 2, pages: 135, size: 0x3E, config: 0x83, locks: .pairs(page: 0x82, unit: 16),
                message: [0x03, 0x00, 0xFE])
        case .ntag216:
            .ntag(
                0x13, subtype: 2, pages: 231, size: 0x6D, config: 0xE3, locks: .pairs(page: 0xE2, unit: 16),
                message: [0x03, 0x00, 0xFE])
        }
    }

    /// The model that answers GET_VERSION so; without an answer the one that has so many pages.
    static func of(version: [UInt8]?, pages: Int) -> Type2Model? {
        guard let version else {
            switch pages {
            case ...16: return .ultralight
            case 41...42: return .ntag203
            default: return .ultralightC
            }
        }
        return allCases.first { $0.layout.version == version }
    }
}
