// SPDX-License-Identifier: Apache-2.0

/// The machine-readable zone of a travel document: two lines of 44 (passports) or 36 characters, or three of 30.
///
/// Source: ICAO Doc 9303 parts 3 to 6.
public struct MachineReadableZone: Hashable, Sendable {
    /// The printed lines.
    public let lines: [String]
    /// The code of the document, such as `P`.
    public let documentCode: String
    /// The issuing state, such as `JPN`.
    public let issuer: String
    /// The primary identifier, mostly the surname.
    public let surname: String
    /// The secondary identifiers; empty if there are none. Long names are cut on the document.
    public let givenNames: String
    /// The number of the document.
    public let number: String
    /// The nationality, such as `JPN`.
    public let nationality: String
    /// `YYMMDD`; an unknown part is `<<`.
    public let birthDate: String
    /// `M`, `F`, or `<` for not stated.
    public let sex: String
    /// `YYMMDD`.
    public let expiryDate: String
    /// What the issuing state added; often empty.
    public let optionalData: String
    /// Whether the check digits of number, birth date and expiry are right.
    package let isKeyRight: Bool
    /// Whether all check digits are right.
    public let hasRightCheckDigits: Bool

    /// Reads 88, 72 or 90 characters A–Z, 0–9 and `<`; otherwise `nil`.
    public init?(_ characters: some Collection<UInt8>) {
        let all = Array(characters)
        guard all.allSatisfy({ Self.value(of: $0) != nil }) else { return nil }
        let width: Int
        switch all.count {
        case 88: width = 44
        case 72: width = 36
        case 90: width = 30
        default: return nil
        }
        let isCard = width == 30
        // All fields as positions in the whole zone.
        let second = width
        let numberStart = isCard ? 5 : second
        let birthStart = isCard ? second : second + 13
        let expiryStart = isCard ? second + 8 : second + 21
        let optional =
            isCard ? all[15..<30] : width == 44 ? all[second + 28..<second + 42] : all[second + 28..<second + 35]
        let name = isCard ? all[60...] : all[5..<width]

        var number = all[numberStart..<numberStart + 9].filter { $0 != Self.filler }
        var numberCheck = all[numberStart + 9]
        var rest = Array(optional)
        if width != 44, numberCheck == Self.filler {
            // A longer number goes on where the optional data begins; its last character is the check digit.
            let more = Array(rest.prefix { $0 != Self.filler })
            if let last = more.last {
                number += more.dropLast()
                numberCheck = last
                rest = Array(rest.dropFirst(more.count))
            }
        }
        let birth = Array(all[birthStart..<birthStart + 6])
        let expiry = Array(all[expiryStart..<expiryStart + 6])
        let fields: [Range<Int>] =
            isCard
            ? [5..<37, 38..<45, 48..<59]
            : [second..<second + 10, second + 13..<second + 20, second + 21..<second + width - 1]
        let composite: [UInt8] = fields.flatMap { all[$0] }
        let compositeCheck = isCard ? all[59] : all[second + width - 1]

        lines = stride(from: 0, to: all.count, by: width).map { Self.text(all[$0..<$0 + width]) }
        documentCode = Self.text(Self.trimmed(all[0..<2]))
        issuer = Self.text(Self.trimmed(all[2..<5]))
        self.number = Self.text(number)
        birthDate = Self.text(birth)
        sex = Self.text(all[(isCard ? second + 7 : second + 20)...].prefix(1))
        expiryDate = Self.text(expiry)
        nationality = Self.text(Self.trimmed(all[(isCard ? second + 15 : second + 10)...].prefix(3)))
        let more = isCard ? rest + all[48..<59] : rest
        optionalData = Self.words(more[...])
        (surname, givenNames) = Self.names(name)
        isKeyRight =
            numberCheck == Self.checkDigit(Self.padded(number)) && all[birthStart + 6] == Self.checkDigit(birth)
            && all[expiryStart + 6] == Self.checkDigit(expiry)
        // The digit of empty optional data may be a filler.
        let optionalIsRight =
            width != 44 || all[86] == Self.checkDigit(optional)
            || all[86] == Self.filler && optional.allSatisfy { $0 == Self.filler }
        hasRightCheckDigits = isKeyRight && optionalIsRight && compositeCheck == Self.checkDigit(composite)
    }

    /// What the keys of BAC come from: number, birth date and expiry, each with its check digit.
    ///
    /// - Parameters:
    ///   - number: without fillers behind it.
    ///   - birth: six characters.
    ///   - expiry: six characters.
    package static func keyInformation(number: [UInt8], birth: [UInt8], expiry: [UInt8]) -> [UInt8] {
        [padded(number), birth, expiry].flatMap { $0 + [checkDigit($0)] }
    }

    private static let filler: UInt8 = 0x3C

    /// At least nine characters.
    private static func padded(_ number: [UInt8]) -> [UInt8] {
        number + [UInt8](repeating: filler, count: max(0, 9 - number.count))
    }

    private static func value(of character: UInt8) -> Int? {
        switch character {
        case 0x30...0x39: Int(character) - 0x30
        case 0x41...0x5A: Int(character) - 0x41 + 10
        case filler: 0
        default: nil
        }
    }

    /// The check digit in ASCII: the weights are 7, 3, 1.
    package static func checkDigit(_ characters: some Sequence<UInt8>) -> UInt8 {
        var (sum, index) = (0, 0)
        for character in characters {
            sum += (value(of: character) ?? 0) * (index % 3 == 0 ? 7 : index % 3 == 1 ? 3 : 1)
            index += 1
        }
        return 0x30 + UInt8(sum % 10)
    }

    private static func text(_ characters: some Sequence<UInt8>) -> String {
        String(decoding: Array(characters), as: UTF8.self)
    }

    private static func trimmed(_ characters: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        characters[..<((characters.lastIndex { $0 != filler } ?? characters.startIndex - 1) + 1)]
    }

    /// Fillers between words become blanks.
    private static func words(_ characters: ArraySlice<UInt8>) -> String {
        characters.split(separator: filler).map { text($0) }.joined(separator: " ")
    }

    /// Two fillers separate the two identifiers.
    private static func names(_ characters: ArraySlice<UInt8>) -> (String, String) {
        let name = trimmed(characters)
        let place = name.indices.first { index in
            name[index] == filler && index + 1 < name.endIndex && name[index + 1] == filler
        }
        guard let place else { return (words(name), "") }
        return (words(name[..<place]), words(name[place...]))
    }
}
