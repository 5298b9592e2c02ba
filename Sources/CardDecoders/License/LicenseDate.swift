// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// A date on a licence: a digit for the era, then year of the era, month and day of two digits each.
public enum LicenseDate: Hashable, Sendable {
    /// A day.
    case day(EraDate)
    /// Year, month and day are all 0: there is none, as for a category that is not held.
    case none
    /// Anything else, a day that does not exist as well: the bytes.
    case invalid([UInt8])

    /// The date of seven ASCII digits.
    public init(_ bytes: some Collection<UInt8>) {
        let digits = bytes.map { (0x30...0x39).contains($0) ? Int($0) - 0x30 : -1 }
        func two(_ place: Int) -> Int { (digits.element(at: place) ?? 0) * 10 + (digits.element(at: place + 1) ?? 0) }
        guard digits.count == 7, !digits.contains(-1) else {
            self = .invalid(Array(bytes))
            return
        }
        if digits.dropFirst().allSatisfy({ $0 == 0 }) {
            self = .none
        } else if let era = digits.first.flatMap(Era.init(rawValue:)),
            let date = EraDate(era: era, yearOfEra: two(1), month: two(3), day: two(5))
        {
            self = .day(date)
        } else {
            self = .invalid(Array(bytes))
        }
    }

    /// The date of seven digits of JIS X 0208, as later entries have it.
    public init(fullWidth bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        let places = stride(from: 0, to: bytes.count, by: 2)
        // Row 3 of JIS X 0208 has the digits at the places of ASCII.
        guard places.allSatisfy({ bytes.element(at: $0) == 0x23 }) else {
            self = .invalid(bytes)
            return
        }
        self.init(places.compactMap { bytes.element(at: $0 + 1) })
        if case .invalid = self { self = .invalid(bytes) }
    }

    /// The day, if it is one.
    public var day: EraDate? {
        if case .day(let date) = self { date } else { nil }
    }

    /// Both forms of the day; what is none in hexadecimal digits.
    public var text: LocalizedText {
        switch self {
        case .day(let date): date.text
        case .none: LocalizedText("none", "なし")
        case .invalid(let bytes):
            LocalizedText("{\(Hex.encode(bytes, uppercase: true))}", "{\(Hex.encode(bytes, uppercase: true))}")
        }
    }
}
