// SPDX-License-Identifier: Apache-2.0

public import CardCiphers
internal import CardModel

/// What opens a passport by BAC: document number, birth date and expiry, as its machine-readable zone has them.
///
/// A passport counts no wrong ones, but may answer more slowly after them. It is personal data: it prints, reflects and dumps as
/// `Redacted`.
public struct PassportKey: SecretValue, Sendable {
    /// Number, birth date and expiry, each with its check digit, in ASCII.
    let information: [UInt8]

    /// Makes a key from `NUMBER,YYMMDD,YYMMDD` or from the printed lines; of a passport, the second line suffices.
    ///
    /// Lower-case and full-width characters are accepted, semicolons between the parts, dates as `1980-04-05`; blanks are left
    /// out.
    ///
    /// - Returns: `nil` for anything else, and for lines whose check digits are wrong.
    public init?(_ text: some StringProtocol) {
        var fields: [[UInt8]] = [[]]
        var lines: [[UInt8]] = [[]]
        for scalar in text.unicodeScalars {
            // FF01 to FF5E are the full-width forms of 21 to 7E, 3000 is the full-width blank, 3001 and FF0C are commas.
            let value = (0xFF01...0xFF5E).contains(scalar.value) ? scalar.value - 0xFEE0 : scalar.value
            switch value {
            case 0x20, 0x09, 0x0D, 0x3000: continue
            case 0x0A: lines.append([])
            case 0x2C, 0x3B, 0x3001: fields.append([])
            // Within dates only.
            case 0x2D, 0x2E, 0x2F: if fields.count < 2 { return nil }
            case 0x61...0x7A: Self.add(UInt8(value - 0x20), &fields, &lines)
            case 0x30...0x39, 0x41...0x5A, 0x3C: Self.add(UInt8(value), &fields, &lines)
            default: return nil
            }
        }
        if fields.count == 3 {
            self.init(number: fields[0], birth: Self.short(fields[1]), expiry: Self.short(fields[2]))
        } else if fields.count == 1 {
            self.init(printed: lines.filter { !$0.isEmpty })
        } else {
            return nil
        }
    }

    private static func add(_ character: UInt8, _ fields: inout [[UInt8]], _ lines: inout [[UInt8]]) {
        fields[fields.count - 1].append(character)
        lines[lines.count - 1].append(character)
    }

    /// A date without the century of its year.
    private static func short(_ date: [UInt8]) -> [UInt8] {
        date.count == 8 && (date.starts(with: [0x31, 0x39]) || date.starts(with: [0x32, 0x30]))
            ? Array(date.dropFirst(2)) : date
    }

    /// Letters and digits that are taken for each other.
    private static let alike: [(UInt8, UInt8)] = [(0x4F, 0x30), (0x49, 0x31), (0x42, 0x38), (0x53, 0x35)]

    /// Returns the one character of a printed line that was probably mistaken for another, since with the other one the check
    /// digits are right.
    ///
    /// - Returns: its place in the line, counted from 1, what was written, and what fits; `nil` if none or several would fit.
    package static func mistaken(in line: some StringProtocol) -> (place: Int, written: Character, fits: Character)? {
        let characters = Array(line.utf8.filter { $0 > 0x20 }).map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }
        guard [44, 36].contains(characters.count) else { return nil }
        var found: [(place: Int, written: Character, fits: Character)] = []
        for (place, written) in characters.enumerated() {
            for pair in alike where written == pair.0 || written == pair.1 {
                let other = written == pair.0 ? pair.1 : pair.0
                var changed = characters
                changed[place] = other
                guard PassportKey(printed: [changed]) != nil else { continue }
                found.append(
                    (place + 1, Character(Unicode.Scalar(written)), Character(Unicode.Scalar(other))))
            }
        }
        return found.count == 1 ? found.first : nil
    }

    private init?(number: [UInt8], birth: [UInt8], expiry: [UInt8]) {
        let end = (number.lastIndex { $0 != 0x3C } ?? -1) + 1
        guard (1...22).contains(end), Self.isDate(birth, allowsFiller: true), Self.isDate(expiry) else { return nil }
        information = MachineReadableZone.keyInformation(
            number: Array(number[..<end]), birth: birth, expiry: expiry)
    }

    /// Two lines of 44 or 36 characters, three of 30, or what of them has number and dates.
    private init?(printed lines: [[UInt8]]) {
        func empty(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x3C, count: count) }
        var characters = lines.flatMap(\.self)
        switch (lines.count, characters.count) {
        case (1, 44), (1, 36): characters = empty(characters.count) + characters
        case (2, 60): characters += empty(30)
        case (1, 88), (1, 72), (1, 90), (2, 88), (2, 72), (3, 90): break
        default: return nil
        }
        guard let zone = MachineReadableZone(characters), zone.isKeyRight else { return nil }
        self.init(
            number: Array(zone.number.utf8), birth: Array(zone.birthDate.utf8), expiry: Array(zone.expiryDate.utf8))
    }

    /// Six digits with a month and a day; parts of a birth date may be unknown.
    private static func isDate(_ text: [UInt8], allowsFiller: Bool = false) -> Bool {
        guard text.count == 6 else { return false }
        func number(_ range: Range<Int>) -> Int? {
            let part = text[range]
            guard part.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return part.reduce(0) { $0 * 10 + Int($1) - 0x30 }
        }
        func isUnknown(_ range: Range<Int>) -> Bool { allowsFiller && text[range].allSatisfy { $0 == 0x3C } }
        return [(0..<2, 0...99), (2..<4, 1...12), (4..<6, 1...31)].allSatisfy { range, values in
            number(range).map(values.contains) ?? isUnknown(range)
        }
    }
}
