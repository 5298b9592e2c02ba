// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardDecoders
import CardModel
import Testing

@Suite("The public vectors of a driver's license")
struct LicenseVectorTests {
    @Test("PL1: a birth date of a real card")
    func birthDate() throws {
        let date = try #require(LicenseDate(Array("4140913".utf8)).day)
        #expect(date.text.english == "2002-09-13 (Heisei 14)")
        #expect(date.text.japanese == "2002-09-13（平成14年9月13日）")
    }

    @Test("PL4, PL6: the free files", arguments: [(LicenseVectors.pinsSet, true), (LicenseVectors.pinsNotSet, false)])
    func freeFiles(setting: String, areSet: Bool) throws {
        let report = try #require(
            LicenseDecoder.decode(
                LicenseVectors.dump([
                    .commonData: try LicenseVectors.bytes(LicenseVectors.commonData),
                    .pinSetting: try LicenseVectors.bytes(setting),
                ])))
        #expect(report.kind == .license)
        #expect(report.edition?.version == "008")
        #expect(report.issued?.description == "2007-06-01")
        #expect(report.expires?.description == "2012-07-01")
        #expect(report.bytes(.makers) == [0, 0])
        #expect(report.arePINsSet == areSet)
        #expect(report.warnings.isEmpty)
    }

    @Test("PL8: every item of DF1/EF01")
    func matters() throws {
        let report = try #require(LicenseDecoder.decode(LicenseVectors.wholeCard()))
        #expect(report.bytes(.characterSet) == [0x78])
        #expect(report.name?.description == "日本　花子")
        #expect(report.nameKana?.description == "ニホン　ハナコ")
        #expect(report.field(.alias)?.value == .absent)
        #expect(report.text(.unifiedNameKana)?.description == "ニホン　ハナコ")
        #expect(report.date(.birthDate)?.day?.text.japanese == "1975-06-01（昭和50年6月1日）")
        #expect(report.text(.address)?.description == "東京都千代田区霞が関２−１−２")
        #expect(report.date(.issueDate)?.day?.text.japanese == "2007-06-01（平成19年6月1日）")
        #expect(report.code(.referenceNumber) == "12345")
        #expect(report.text(.colorClass)?.description == "優良")
        #expect(report.date(.expiryDate)?.day?.text.japanese == "2012-07-01（平成24年7月1日）")
        #expect(
            report.conditions.map(\.description) == [
                "眼鏡等", "中型車は中型車（８ｔ）に限る", "準中型で運転できる準中型車は準中型車（５ｔ）に限る",
            ])
        #expect(report.fields(.conditions).map(\.value).last == .absent)
        #expect(report.commission?.description == "東京都公安")
        #expect(report.code(.number) == "123456789000")
        #expect(report.warnings.isEmpty)
    }

    @Test("PL8: categories held and not held")
    func categories() throws {
        let report = try #require(LicenseDecoder.decode(LicenseVectors.wholeCard()))
        #expect(report.categories.count == 18)
        let held = report.categories.filter { $0.isHeld == true }
        #expect(held.map(\.id) == ["twoWheelSmallMoped", "other", "ordinaryMotorcycle", "medium"])
        #expect(held.map(\.name.japanese) == ["二・小・原", "他", "普自二", "中型"])
        #expect(held.allSatisfy { $0.since?.day?.japanese == "平成20年4月1日" && $0.since?.day?.date.year == 2008 })
        let others = report.categories.filter { $0.isHeld == false }
        #expect(others.count == 14)
        #expect(others.allSatisfy { $0.since == nil })
        #expect(report.categories.map(\.isGroup) == (0..<18).map { $0 < 3 })
    }

    @Test("PL9: a later entry is applied and listed, tags 5F and 7F do not break the items")
    func laterEntry() throws {
        let report = try #require(LicenseDecoder.decode(LicenseVectors.wholeCard()))
        #expect(report.fields.count { $0.file == .laterEntries } == 1 + 15 + 8 * 7)
        let entries = report.laterEntries
        try #require(entries.count == 1)
        #expect(entries[0].field.item == .newAddress)
        #expect(entries[0].field.number == 1)
        #expect(entries[0].field.tag == 0x70)
        #expect(entries[0].entry.characterSet == 0x78)
        #expect(entries[0].entry.date.day?.japanese == "平成30年1月1日")
        #expect(entries[0].entry.date.day?.date.description == "2018-01-01")
        #expect(entries[0].entry.text.description == "東京都千代田区霞が関２−１−３")
        #expect(entries[0].entry.commission.description == "東京都公安")
        #expect(report.address?.description == "東京都千代田区霞が関２−１−３")
        #expect(report.name?.description == "日本　花子")
    }

    @Test("PL10: registered domicile")
    func domicile() throws {
        let report = try #require(LicenseDecoder.decode(LicenseVectors.wholeCard()))
        #expect(report.registeredDomicile?.description == "東京都千代田区霞が関二丁目")
    }

    @Test("The document names the items and both forms of a date")
    func document() throws {
        let report = try #require(LicenseDecoder.decode(LicenseVectors.wholeCard()))
        let json = report.json(.english)
        #expect(json["specificationVersion"] == "008")
        #expect(json["birthDate"] == "1975-06-01")
        #expect(json["birthDateJapanese"] == "昭和50年6月1日")
        #expect(json["alias"] == .null)
        #expect(json["address"] == "東京都千代田区霞が関２−１−３")
        #expect(json["asIssued"] == ["address": "東京都千代田区霞が関２−１−２"])
        #expect(json["photo"] == nil)
        #expect(json["withheld"] == [])
        #expect(report.warnings.isEmpty)
    }
}
