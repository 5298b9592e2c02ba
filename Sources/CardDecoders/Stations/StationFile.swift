// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// One file of station names, bus stops or former names, in Kazasu's own layout or one of those that are around.
///
/// The own layout is tab-separated with a header (`area line station company line_name station_name`, then
/// `valid_from valid_until` if it has dates; `operator stop company stop_name`; `area line station current_name
/// former_name`, then `valid_until` if it has dates) and decimal codes. Others begin with the same three code columns, then company, line and station,
/// with or without a header; files of the same name exist with hexadecimal and with decimal codes. Bus stops also come
/// under the header of nfc-felica's tables (`LineCode StationCode CompanyName LineName StationName`, without an area).
/// UTF-8, or Shift_JIS as Japanese Windows writes it.
public struct StationFile: Hashable, Sendable {
    /// How the codes of a file are written.
    public enum Codes: String, Hashable, Sendable, CaseIterable {
        /// Hexadecimal.
        case hex
        /// Decimal.
        case decimal
    }

    /// How it is known how the codes are written.
    public enum Evidence: Hashable, Sendable {
        /// The user said so.
        case told
        /// The file has Kazasu's own layout.
        case layout
        /// There are letters among the digits.
        case letters
        /// So many stations whose codes are public stand where they must.
        case knownPairs(Int)
    }

    /// What the file holds.
    public let rows: StationRows
    /// How its codes are written.
    public let codes: Codes
    /// How that is known.
    public let evidence: Evidence
    /// How many rows were left out because their key had been there already.
    public let repeated: Int
    /// How many of these have another name than the row that counts.
    public let differing: Int
    /// Whether the file is in Shift_JIS.
    public let isShiftJIS: Bool

    /// The longest file that is read, in bytes.
    public static let longestDocument = 32 << 20

    /// Reads a file.
    ///
    /// - Parameter codes: how the codes are written; `nil` to find out.
    /// - Throws: ``DocumentError`` with the line; ``DocumentError/malformed(key:expected:)`` for `codes` when nothing
    ///   tells how they are written.
    public init(parsing bytes: [UInt8], codes told: Codes? = nil) throws(DocumentError) {
        guard bytes.count <= StationFile.longestDocument else {
            throw .tooLong(bytes: bytes.count, limit: StationFile.longestDocument)
        }
        let utf8 = ShiftJIS.utf8(bytes)
        isShiftJIS = utf8 != nil
        let text = try DelimitedText(utf8 ?? bytes)
        let layout = try StationLayout(text)
        (codes, evidence) = try StationFile.codes(text, layout, told)
        let contents = try layout.contents(text, codes)
        (rows, repeated, differing) = (contents.rows, contents.repeated, contents.differing)
        guard rows.count > 0 else { throw .malformedLine(line: 1, expected: "rows of station codes and names") }
    }

    private static func codes(
        _ text: DelimitedText, _ layout: StationLayout, _ told: Codes?
    ) throws(DocumentError) -> (Codes, Evidence) {
        if let told { return (told, .told) }
        if layout.isOwn { return (.decimal, .layout) }
        if try layout.hasLetters(text) { return (.hex, .letters) }
        let decimal = try KnownStations.matches(text, layout, .decimal)
        let hex = try KnownStations.matches(text, layout, .hex)
        if decimal > 0, hex == 0 { return (.decimal, .knownPairs(decimal)) }
        if hex > 0, decimal == 0 { return (.hex, .knownPairs(hex)) }
        throw .malformed(key: "codes", expected: "hex or decimal: nothing in the file tells which")
    }
}
