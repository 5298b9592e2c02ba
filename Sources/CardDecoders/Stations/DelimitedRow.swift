// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// One row of a ``DelimitedText``: where its fields lie in the text, so that no field is copied before it is wanted.
struct DelimitedRow {
    /// The number of its line, from 1.
    var line = 0
    /// The text, and behind it what quoted fields mean whose bytes are not those in the text.
    var bytes: [UInt8]
    var fields: [Range<Int>] = []

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// How many fields there are.
    var count: Int { fields.count }

    /// Whether a field is there and not empty.
    func has(_ column: Int) -> Bool { fields.element(at: column).map { !$0.isEmpty } ?? false }

    /// The bytes of a field, or `nil` when there is none.
    func field(_ column: Int) -> ArraySlice<UInt8>? { fields.element(at: column).map { bytes[$0] } }

    /// The text of a field, or `nil` when there is none or it is empty.
    func text(_ column: Int) -> String? {
        guard let field = field(column), !field.isEmpty else { return nil }
        return String(decoding: field, as: UTF8.self)
    }

    /// Whether two fields of any rows of this text are equal.
    func isEqual(_ one: Range<Int>, _ other: Range<Int>) -> Bool {
        guard one.count == other.count else { return false }
        let distance = other.lowerBound - one.lowerBound
        for index in one where bytes[index] != bytes[index + distance] { return false }
        return true
    }

    /// The number that the digits of a field write, at most 65535; `nil` when they write none.
    /// Hexadecimal digits may follow 0x.
    func number(_ column: Int, _ codes: StationFile.Codes) -> UInt32? {
        guard var range = fields.element(at: column) else { return nil }
        if codes == .hex, range.count > 2, bytes[range.lowerBound] == UInt8(ascii: "0"),
            bytes[range.lowerBound + 1] | 0x20 == UInt8(ascii: "x")
        {
            range = range.lowerBound + 2..<range.upperBound
        }
        guard (1...5).contains(range.count) else { return nil }
        var value: UInt32 = 0
        for index in range {
            guard let nibble = Hex.value(of: bytes[index]) else { return nil }
            switch codes {
            case .hex: value = value << 4 | UInt32(nibble)
            case .decimal:
                guard nibble < 10 else { return nil }
                value = value * 10 + UInt32(nibble)
            }
        }
        return value <= 0xFFFF ? value : nil
    }

    /// The number of a field when it is at most 255.
    func byte(_ column: Int, _ codes: StationFile.Codes) -> UInt8? {
        number(column, codes).flatMap { UInt8(exactly: $0) }
    }
}
