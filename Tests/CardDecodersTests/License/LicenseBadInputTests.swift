// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardDecoders
import CardModel
import TestSupport
import Testing

@Suite("Licenses with anything in their files")
struct LicenseBadInputTests {
    /// Every file of a license of `Fixtures/iso7816`, read as if all were open.
    static func files(_ name: String) throws -> [LicenseFile: [UInt8]] {
        let card = JSONCursor(try JSONValue(parsing: try TestFiles.read("Fixtures/iso7816/license/\(name).json")))
        var files: [LicenseFile: [UInt8]] = [:]
        func add(_ directory: JSONCursor, _ aid: AID?) throws {
            for (id, file) in try directory.required("files").members() {
                let wanted = LicenseFile.allCases.first { $0.application == aid && $0.id.description == id }
                if let wanted { files[wanted] = try file.required("data").bytes() }
            }
        }
        if let master = try card.optional("masterFile") { try add(master, nil) }
        for application in try card.required("applications").elements() {
            try add(application, AID(try application.required("aid").text()))
        }
        return files
    }

    /// Decodes, and checks what holds for whatever bytes.
    @discardableResult
    static func check(_ files: [LicenseFile: [UInt8]]) throws -> LicenseReport {
        let report = try #require(LicenseDecoder.decode(LicenseVectors.dump(files)))
        let json = JSONValue.object(report.json(.japanese))
        #expect(try JSONValue(parsing: Array(json.compactText.utf8)) == json)
        return report
    }

    @Test("Every byte of every file changed: the card is still decoded", arguments: ["gaiji", "my-number-licence"])
    func mutations(card: String) throws {
        let files = try Self.files(card)
        var generator = SeededGenerator(seed: 7_816)
        for (file, bytes) in files.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where !bytes.isEmpty {
            for _ in 0..<40 {
                var changed = files
                changed[file]?[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(
                    in: 0...255, using: &generator)
                if Int.random(in: 0..<4, using: &generator) == 0 {
                    changed[file]?.removeLast(Int.random(in: 0...bytes.count, using: &generator))
                }
                try Self.check(changed)
            }
        }
    }

    @Test("Any bytes in any file", arguments: 1...60 as ClosedRange<UInt64>)
    func anyBytes(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var files: [LicenseFile: [UInt8]] = [:]
        for file in LicenseFile.allCases {
            let count = Int.random(in: 0...(2 * file.longest), using: &generator)
            files[file] = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        }
        files[.commonData] = files[.commonData] ?? []
        try Self.check(files)
    }

    @Test("Files of 0 and of 65,536 bytes", arguments: [0x00, 0xFF, 0x11, 0x5F, 0x82, 0x01] as [UInt8])
    func extremes(byte: UInt8) throws {
        for file in LicenseFile.allCases {
            var files = try Self.files(file.isOnMyNumberCard ? "my-number-licence" : "sample")
            files[file] = []
            let empty = try Self.check(files)
            #expect(empty.warnings == [LicenseWarning(file: file, reason: .empty)])
            files[file] = [UInt8](repeating: byte, count: 65_536)
            let report = try Self.check(files)
            #expect(report.warnings.allSatisfy { $0.file == file || $0.reason == .differsFromCommonData })
        }
    }

    @Test("Lengths have one byte up to 7F, then 81 or 82 before them", arguments: [0, 1, 0x7F, 0x80, 0xFF, 0x100])
    func lengths(_ count: Int) throws {
        let form: [UInt8] =
            count < 0x80
            ? [UInt8(count)] : count < 0x100 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
        let item = [0x11] + form + [UInt8](repeating: 0x41, count: count)
        let list = LicenseRecordList(item + [0x12, 0x01, 0x42], of: .commonData)
        #expect(list.records.map(\.value.count) == [count, 1] && list.warnings.isEmpty)
    }

    @Test("A broken file names file and item, and the rest is shown")
    func broken() throws {
        let report = try Self.check(try Self.files("broken"))
        let faults = report.warnings.map { "\($0.file.rawValue) \($0.tag?.description ?? "-") \($0.reason.word)" }
        #expect(
            faults == [
                "DF1/EF01 16 notADate", "DF1/EF01 0F unknownItem", "DF1/EF01 19 repeated", "DF1/EF01 21 notText",
                "DF1/EF01 32 pastEnd", "DF1/EF04 78 wrongLength", "DF1/EF04 71 outOfOrder",
            ])
        #expect(report.name?.description == "日本　花子")
        #expect(report.code(.referenceNumber) == "12345")
        #expect(report.date(.birthDate)?.day == nil)
        #expect(report.json(.english)["birthDate"] == .null)
        #expect(report.json(.english)["birthDateRaw"] == "33353031333435")
        #expect(report.photo?.count == 2_000)
    }

    @Test("Later entries of every kind, external characters and missing ones")
    func gaiji() throws {
        let report = try Self.check(try Self.files("gaiji"))
        #expect(report.warnings.isEmpty)
        #expect(report.text(.name)?.description == "日{外字1}　花{外字2}")
        #expect(report.name?.description == "大阪　{外字3}子")
        #expect(report.text(.alias)?.runs == [.externalCharacter(1), .text("田")])
        #expect(report.address?.description == "大阪市北区中之島１−１")
        #expect(report.nameKana?.description == "オオサカ　ハナコ")
        #expect(report.commission?.description == "大阪府公安")
        #expect(report.registeredDomicile?.description == "大阪市北区{欠字}")
        #expect(report.remarks.map(\.description) == ["備考の例"])
        #expect(
            report.laterEntries.map { "\($0.field.item.rawValue)\($0.field.number)" } == [
                "newCommission1", "newName1", "newNameKana1", "newAddress1", "newAddress2", "newCondition1",
                "conditionLifted1", "remarks1", "newRegisteredDomicile1",
            ])
        #expect(report.laterEntries.first?.entry.text.description == "大阪府公安")
        let pictures = report.fields(.externalCharacters).filter { !$0.raw.isEmpty }
        #expect(pictures.map(\.number) == [1, 2, 3])
        #expect(pictures.allSatisfy { $0.raw.count == 128 })
    }

    @Test("Edition 007 has no semi-medium, and nothing is said of it")
    func edition007() throws {
        let report = try Self.check(try Self.files("edition-007"))
        #expect(report.edition?.version == "007")
        #expect(report.warnings.isEmpty)
        #expect(!report.categories.contains { $0.id == "semiMedium" })
        #expect(report.categories.count == 17)
    }

    @Test("States of files that were not read")
    func states() throws {
        let none = FileIdentifier(rawValue: 0)
        let files: [LicenseFile: FileDump] = [
            .commonData: FileDump(
                id: none, state: .lost, data: try LicenseVectors.bytes("450B303038200706")),
            .pinSetting: FileDump(id: none, state: .read, data: [5, 1, 1]),
            .matters: FileDump(id: none, state: .keyRequired),
            .domicile: FileDump(id: none, state: .refused(status: 0x6A82)),
            .photo: FileDump(id: none, state: .refused(status: nil)),
            .signature: FileDump(id: none, state: .skipped),
        ]
        let report = try #require(LicenseDecoder.decode(LicenseVectors.dump(files)))
        #expect(
            report.warnings.map(\.reason) == [.lost, .refused(0x6A82), .refused(nil)])
        #expect(report.warnings.map(\.file) == [.commonData, .domicile, .photo])
        #expect(report.withheldFiles == [.matters])
        #expect(report.edition == nil)
    }

    @Test("Reports dates that differ from the free data")
    func differs() throws {
        var files = try Self.files("sample")
        files[.commonData] = try LicenseVectors.bytes("450B3030382007060220120701" + "46020000")
        #expect(
            try Self.check(files).warnings == [
                LicenseWarning(file: .matters, tag: 0x18, reason: .differsFromCommonData)
            ])
    }

    @Test("Rejects a dump of another card")
    func others() {
        #expect(LicenseDecoder.decode(CardDump(card: .typeB(pupi: nil))) == nil)
        #expect(LicenseDecoder.decode(CardDump(card: CardIdentity(technology: .felica))) == nil)
        #expect(MyNumberDecoder.decode(CardDump(card: .typeB(pupi: nil))) == nil)
    }
}
