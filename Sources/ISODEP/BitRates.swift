// SPDX-License-Identifier: Apache-2.0

/// The bit rates beside 106 kbit/s that a card of ISO 14443 names in TA of its ATS or in its protocol info.
public struct BitRates: Hashable, Sendable {
    /// The byte as it came.
    public let rawValue: UInt8

    /// The bit rates that a byte names.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// What the card can send at, in kbit/s.
    public var fromCard: [Int] { BitRates.rates(rawValue >> 4) }
    /// What the card can receive at, in kbit/s.
    public var toCard: [Int] { BitRates.rates(rawValue) }
    /// Whether both directions have to go at the same rate.
    public var mustBeEqual: Bool { rawValue & 0x80 != 0 }

    private static func rates(_ bits: UInt8) -> [Int] {
        [106] + [(1, 212), (2, 424), (4, 848)].compactMap { bit, rate in bits & bit != 0 ? rate : nil }
    }
}

extension AnswerToSelect {
    /// TA, the bit rates; 106 kbit/s alone when the card names none.
    public var bitRates: BitRates {
        let format = bytes.dropFirst().first ?? 0
        return BitRates(rawValue: format & 0x10 != 0 ? bytes.dropFirst(2).first ?? 0 : 0)
    }

    /// Whether the card takes a node address (NAD) in its blocks.
    public var supportsNAD: Bool {
        guard let format = bytes.dropFirst().first, format & 0x40 != 0 else { return false }
        let place = 2 + (format & 0x10 != 0 ? 1 : 0) + (format & 0x20 != 0 ? 1 : 0)
        return bytes.dropFirst(place).first.map { $0 & 0x01 != 0 } ?? false
    }
}

extension AnswerToRequestB {
    /// The bit rates.
    public var bitRates: BitRates { BitRates(rawValue: protocolInfo.first ?? 0) }

    /// Whether the card takes a node address (NAD) in its blocks.
    public var supportsNAD: Bool { protocolInfo.dropFirst(2).first.map { $0 & 0x02 != 0 } ?? false }

    /// The application data as ISO 14443-3 has it: application family, CRC_B of the AID as it came, and how many
    /// applications there are (in the named family in the high four bits, on the card in the low); `nil` when the card
    /// codes it in its own way.
    public var application: (family: UInt8, checksum: [UInt8], counts: UInt8)? {
        guard let coding = protocolInfo.dropFirst(2).first, coding & 0x0C == 0x04,
            let family = applicationData.first, let counts = applicationData.last
        else { return nil }
        return (family, Array(applicationData.dropFirst().prefix(2)), counts)
    }
}
