// SPDX-License-Identifier: Apache-2.0

import CardModel
import Testing

@testable import CardDecoders

@Suite("What Japanese texts of a license mean")
struct LicenseMeaningTests {
    @Test("Bytes of JIS X 0201, without blanks at the end")
    func singleBytes() {
        #expect(LicenseText.jisX0201([0xA1, 0xB1, 0xDF, 0x41, 0x7E, 0x20, 0x00]) == "｡ｱﾟA~")
        for byte in [0x1F, 0x7F, 0xA0, 0xE0] as [UInt8] { #expect(LicenseText.jisX0201([byte, 0x41]) == nil) }
    }

    /// A text as JIS X 0208, and its class.
    static let colorClasses: [(bytes: [UInt8], name: LicenseColorClass?)] = [
        ([0x4D, 0x25, 0x4E, 0x49], .excellent), ([0x4D, 0x25, 0x21, 0x21, 0x4E, 0x49], .excellent),
        ([0x3F, 0x37, 0x35, 0x2C], .new), ([0x24, 0x3D, 0x24, 0x4E, 0x42, 0x3E], .other),
        ([0x4D, 0x25], nil), ([], nil), ([0xFF, 0xF1], nil), ([0x4D, 0x25, 0x4E, 0x49, 0x4E], nil),
    ]

    @Test("The color class, however it is spaced", arguments: colorClasses)
    func colorClass(_ row: (bytes: [UInt8], name: LicenseColorClass?)) {
        #expect(LicenseColorClass(JISText(decoding: row.bytes)) == row.name)
    }

    @Test("The class and common conditions have a meaning, what no table has none")
    func fields() throws {
        let report = try #require(LicenseDecoder.decode(LicenseVectors.wholeCard()))
        #expect(report.field(.colorClass)?.meaning == LocalizedText("excellent driver (gold)", "優良"))
        #expect(
            report.fields(.conditions).map { $0.meaning?.english } == [
                "glasses or contact lenses", "medium vehicles: under 8 t gross only",
                "semi-medium vehicles: under 5 t gross only", nil,
            ])
        #expect(report.field(.address)?.meaning == nil)
        #expect(report.field(.name)?.meaning == nil)
    }
}
