// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

// A Japanese driver's license, editions 007 to 010 of its specification, and the license on a My Number card.
//
// Certain: the files and the tags of edition 008 (TRETJapanNFCReader, libjeid's application and soft-studio's reader
// agree). One source: the form of later entries, and the items of a My Number card. Unknown: the contents of the 128
// bytes of an external character, and which bytes are signed. So pictures are returned as bytes, and no signature is
// reported as verified.

/// Decodes a dump of a license. It never talks to a card, and no input can make it trap.
public enum LicenseDecoder {
    /// Returns the kind of license in a dump; `nil` when there is none.
    public static func kind(of dump: CardDump) -> LicenseKind? {
        if dump.applications.contains(where: { $0.aid != nil && [LicenseFile.df1, LicenseFile.df2].contains($0.aid) }) {
            return .license
        }
        let master = dump.application(nil)
        if master?.file(LicenseFile.commonData.id) != nil, master?.file(LicenseFile.pinSetting.id) != nil {
            return .license
        }
        return dump.applications.contains { $0.aid != nil && $0.aid == LicenseFile.myNumberLicense }
            ? .myNumberLicense : nil
    }

    /// Decodes the license in a dump; `nil` when there is none.
    public static func decode(_ dump: CardDump) -> LicenseReport? {
        guard let kind = kind(of: dump) else { return nil }
        var report = LicenseReport(kind: kind, fields: [], withheldFiles: [], warnings: [])
        for file in kind.files {
            let found = dump.application(file.application)?.file(file.id)
            report.read(file, found) { $0.addFields(file, $1, isCut: false) }
            if let found, found.state == .lost, !found.data.isEmpty {
                report.addFields(file, found.data, isCut: true)
            }
        }
        let states = kind.pins.map { dump.application($0.application)?.file($0.file)?.pin }
        report.pin1 = states.first ?? nil
        report.pin2 = states.dropFirst().first ?? nil
        report.compareDates()
        report.checkOrder()
        return report
    }
}

extension LicenseReport {
    /// Adds the contents of one file.
    fileprivate mutating func addFields(_ file: LicenseFile, _ data: [UInt8], isCut: Bool) {
        let reader = LicenseFieldReader(file, data)
        fields += reader.fields
        // A truncated file is already reported as such; do not also report that it ends within an item.
        warnings += isCut ? reader.warnings.filter { !$0.reason.isEnd } : reader.warnings
    }

    /// Checks that the free data and the license's own text give the same days.
    fileprivate mutating func compareDates() {
        guard kind == .license, let edition else { return }
        for (item, free) in [(LicenseItem.issueDate, edition.issued), (.expiryDate, edition.expires)] {
            guard let field = field(item), let day = date(item)?.day?.date, let free, day != free else { continue }
            warnings.append(LicenseWarning(file: field.file, tag: field.tag, reason: .differsFromCommonData))
        }
    }

    /// Checks that later entries of one kind are in chronological order.
    fileprivate mutating func checkOrder() {
        var last: [LicenseItem: CalendarDate] = [:]
        for later in laterEntries {
            let field = later.field
            guard let day = later.entry.date.day?.date else { continue }
            if let before = last[field.item], day < before {
                warnings.append(LicenseWarning(file: field.file, tag: field.tag, reason: .outOfOrder))
            }
            last[field.item] = day
        }
    }
}

extension IdentityWarningReason {
    fileprivate var isEnd: Bool {
        switch self {
        case .lengthMissing, .pastEnd: true
        default: false
        }
    }
}

/// Decodes the items of one file into fields.
struct LicenseFieldReader {
    let file: LicenseFile
    private(set) var fields: [LicenseField] = []
    private(set) var warnings: [LicenseWarning] = []

    init(_ file: LicenseFile, _ bytes: [UInt8]) {
        self.file = file
        let list = LicenseRecordList(bytes, of: file)
        var seen: Set<LicenseTag> = []
        // A file that repeats the same item many thousands of times is reported once.
        var repeated: Set<LicenseTag> = []
        for record in list.records {
            func note(_ reason: LicenseWarning.Reason) {
                warnings.append(LicenseWarning(file: file, tag: record.tag, offset: record.offset, reason: reason))
            }
            guard seen.insert(record.tag).inserted else {
                if repeated.insert(record.tag).inserted { note(.repeated) }
                continue
            }
            guard let (row, number) = DecoderTables.licenseItems.item(record.tag, in: file) else {
                note(.unknownItem)
                continue
            }
            let (value, reason) = LicenseFieldReader.value(record.value, row)
            if let reason { note(reason) }
            fields.append(
                LicenseField(
                    file: file, tag: record.tag, item: row.item, number: number, category: row.category,
                    name: row.name, value: value, raw: record.value))
        }
        warnings += list.warnings
        if list.records.isEmpty, list.warnings.isEmpty { warnings.append(LicenseWarning(file: file, reason: .empty)) }
    }

    private static func value(_ bytes: [UInt8], _ row: LicenseItemRow) -> (LicenseValue, LicenseWarning.Reason?) {
        guard !bytes.isEmpty else { return (.absent, nil) }
        let wrong = (LicenseValue.bytes(bytes), LicenseWarning.Reason.wrongLength(bytes.count))
        switch row.form {
        case .bytes, .makers: return (.bytes(bytes), nil)
        case .jis: return (.text(JISText(decoding: bytes)), nil)
        case .ascii, .sign:
            guard let text = LicenseText.jisX0201(bytes) else {
                return (.bytes(bytes), row.form == .ascii ? .notText : nil)
            }
            return (.code(text), nil)
        case .date:
            let date = LicenseDate(bytes)
            if case .invalid = date { return (.date(date), bytes.count == 7 ? .notADate : .wrongLength(bytes.count)) }
            return (.date(date), nil)
        case .edition:
            guard let edition = LicenseEdition(bytes) else { return wrong }
            if edition.version == nil { return (.edition(edition), .notText) }
            return (.edition(edition), edition.issued == nil || edition.expires == nil ? .notADate : nil)
        case .entry:
            guard let entry = LicenseLaterEntry(bytes, isCommission: row.item == .newCommission) else { return wrong }
            if case .invalid = entry.date { return (.entry(entry), .notADate) }
            return (.entry(entry), nil)
        case .flag:
            guard let byte = bytes.first, bytes.count == 1 else { return wrong }
            return (.flag(byte & 0x01 != 0), nil)
        case .held:
            guard let byte = bytes.first, bytes.count == 1 else { return wrong }
            // Two sources call it a flag, none documents its values: anything but 00 and 01 stays a byte.
            return (byte > 1 ? .bytes(bytes) : .flag(byte == 1), nil)
        }
    }
}

/// One item of a license as stored on the card.
public struct LicenseField: Hashable, Sendable {
    package let file: LicenseFile
    package let tag: LicenseTag
    /// The item.
    public let item: LicenseItem
    /// The position among several such items, from 1.
    public let number: Int
    /// The category of vehicles, if the item is one, as in `medium`.
    public let category: String?
    /// The display name.
    public let name: LocalizedText
    /// The decoded value.
    public let value: LicenseValue
    /// The bytes of the value.
    public let raw: [UInt8]
}

extension LicenseField {
    /// A translated meaning of the card's text, for the color class and for common conditions.
    ///
    /// `nil` for every other item, and for texts that are in no table.
    public var meaning: LocalizedText? {
        switch (item, value) {
        case (.colorClass, .text(let text)): LicenseColorClass(text)?.name
        case (.conditions, .text(let text)): DecoderTables.licenseConditions[text.unspaced]
        case (.newCondition, .entry(let entry)), (.conditionLifted, .entry(let entry)):
            DecoderTables.licenseConditions[entry.text.unspaced]
        default: nil
        }
    }
}

/// The contents of MF/EF01, readable without a PIN: specification edition, days of issue and expiry.
public struct LicenseEdition: Hashable, Sendable {
    /// 仕様書バージョン番号, as in `008`; `nil` when it is not text.
    public let version: String?
    /// 交付年月日; `nil` when the digits are not a valid date.
    public let issued: CalendarDate?
    /// 有効期間の末日; `nil` when the digits are not a valid date.
    public let expires: CalendarDate?

    /// Parses three ASCII characters and two dates of four bytes each in decimal digits; `nil` for any other length.
    init?(_ value: [UInt8]) {
        guard value.count == 11 else { return nil }
        version = LicenseText.jisX0201(value.prefix(3))
        issued = LicenseEdition.day(value.dropFirst(3).prefix(4))
        expires = LicenseEdition.day(value.dropFirst(7))
    }

    private static func day(_ bytes: ArraySlice<UInt8>) -> CalendarDate? {
        let pairs = bytes.compactMap { BCD.value($0) }
        guard pairs.count == 4 else { return nil }
        return CalendarDate(year: pairs[0] * 100 + pairs[1], month: pairs[2], day: pairs[3])
    }
}
