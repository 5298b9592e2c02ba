// SPDX-License-Identifier: Apache-2.0

/// The information in the ATR that a reader makes up for a contactless card.
///
/// Sources: PC/SC part 3 §3.1.3 as the manuals of ACS quote it, pcsc-tools `smartcard_list.txt`, OpenSC issue 3744.
enum ContactlessATR: Hashable, Sendable {
    /// A card with ISO-DEP whose ATR holds the historical bytes of its ATS, or the ATQB of type B; both may be 8 bytes.
    case isoDEP(content: [UInt8])
    /// A memory card of type A.
    case memoryA
    /// A FeliCa card.
    case felica
    /// A card with contacts, or one that is not in this table.
    case other

    /// The application identifier of PC/SC, A000000306, with its length.
    private static let workgroup: [UInt8] = [0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06]
    /// The prefix of a FeliCa card's ATR from older readers.
    private static let oldFeliCa: [UInt8] = [0x04, 0x43, 0xFD]

    init(_ atr: [UInt8]) {
        // TS, T0 with TD1 and a count, TD1 80 (T=0, and a further TD2), TD2 01 (T=1), historical bytes, TCK.
        guard atr.count >= 5, atr[0] == 0x3B, atr[1] & 0xF0 == 0x80, atr[2] == 0x80, atr[3] == 0x01,
            atr.count == 4 + Int(atr[1] & 0x0F) + 1, atr.dropFirst().reduce(0, ^) == 0
        else {
            self = .other
            return
        }
        let content = Array(atr[4..<atr.count - 1])
        if content.starts(with: Self.oldFeliCa), content.count == 12 {
            self = .felica
        } else if content.starts(with: Self.workgroup), content.count == 15 {
            self = Self.memory(standard: content[8], name: UInt16(content[9]) << 8 | UInt16(content[10]))
        } else {
            self = .isoDEP(content: content)
        }
    }

    /// Identifies a memory card by the bytes SS and NN NN. Readers of the ACR122 family report type A (03) for FeliCa,
    /// with the name F011 at 212 kbit/s and F012 at 424.
    private static func memory(standard: UInt8, name: UInt16) -> ContactlessATR {
        switch (standard, name) {
        case (0x11, _), (0x03, 0xF011), (0x03, 0xF012): .felica
        case (0x01...0x03, _): .memoryA
        default: .other
        }
    }
}
