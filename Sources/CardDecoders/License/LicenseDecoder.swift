// SPDX-License-Identifier: Apache-2.0

public import CardModel

// A Japanese driver's licence, editions 007 to 010 of its specification, and the licence on a My Number card.
//
// Certain: the files and the tags of edition 008 (TRETJapanNFCReader, libjeid's application, soft-studio's reader agree).
// One source: the form of later entries, and the items of a My Number card. Not known: what is inside the 128 bytes of an
// external character, and which bytes are signed. So pictures are given as bytes, and no signature is called verified.

/// Makes a report of a dump of a licence. It never talks to a card, and no bytes can make it trap.
public enum LicenseDecoder {
    /// The file of PIN 1.
    public static let pin1 = FileIdentifier(rawValue: 0x0001)
    /// The file of PIN 2.
    public static let pin2 = FileIdentifier(rawValue: 0x0002)
    /// The file of the PIN on a My Number card.
    public static let myNumberPIN = FileIdentifier(rawValue: 0x0006)

    /// Which licence a dump is of; `nil` when it is of none.
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

    /// All that a dump of a licence says; `nil` when it is of none.
    public static func decode(_ dump: CardDump) -> LicenseReport? {
        guard let kind = kind(of: dump) else { return nil }
        var report = LicenseReport(kind: kind, fields: [], withheldFiles: [], faults: [])
        for file in kind.files {
            guard let found = dump.application(file.application)?.file(file.id) else { continue }
            report.add(file, found)
        }
        switch kind {
        case .license:
            let master = dump.application(nil)
            report.pin1 = CardPINState(master?.file(pin1))
            report.pin2 = CardPINState(master?.file(pin2))
        case .myNumberLicense:
            report.pin1 = CardPINState(dump.application(LicenseFile.myNumberLicense)?.file(myNumberPIN))
        }
        if let text = report.fields.first(where: \.hasJISText), !JISX0208.isAvailable {
            report.faults.append(LicenseFault(file: text.file, reason: .noConverter))
        }
        report.compareDates()
        report.checkOrder()
        return report
    }
}

extension LicenseReport {
    /// What one file of a dump says.
    fileprivate mutating func add(_ file: LicenseFile, _ found: FileDump) {
        switch found.state {
        case .keyRequired: withheldFiles.append(file)
        case .refused(let status): faults.append(LicenseFault(file: file, reason: .refused(status)))
        case .skipped: break
        case .lost:
            faults.append(LicenseFault(file: file, reason: .lost))
            if !found.data.isEmpty { addFields(file, found.data, isCut: true) }
        case .read: addFields(file, found.data, isCut: false)
        }
    }

    private mutating func addFields(_ file: LicenseFile, _ data: [UInt8], isCut: Bool) {
        let reader = LicenseFieldReader(file, data)
        fields += reader.fields
        // That a file which was cut ends within an item is told by its being cut.
        faults += isCut ? reader.faults.filter { !$0.reason.isEnd } : reader.faults
    }

    /// The free data and the licence's own text name the same days.
    fileprivate mutating func compareDates() {
        guard kind == .license, let edition else { return }
        for (item, free) in [(LicenseItem.issueDate, edition.issued), (.expiryDate, edition.expires)] {
            guard let field = field(item), let day = date(item)?.day?.date, let free, day != free else { continue }
            faults.append(LicenseFault(file: field.file, tag: field.tag, reason: .differsFromCommonData))
        }
    }

    /// Later entries of one kind are written one after another.
    fileprivate mutating func checkOrder() {
        var last: [LicenseItem: CalendarDate] = [:]
        for (field, entry) in laterEntries {
            guard let day = entry.date.day?.date else { continue }
            if let before = last[field.item], day < before {
                faults.append(LicenseFault(file: field.file, tag: field.tag, reason: .outOfOrder))
            }
            last[field.item] = day
        }
    }
}

extension LicenseField {
    fileprivate var hasJISText: Bool {
        switch value {
        case .text(let text): !text.isEmpty
        case .entry: true
        default: false
        }
    }
}

extension LicenseFault.Reason {
    fileprivate var isEnd: Bool {
        switch self {
        case .lengthMissing, .pastEnd: true
        default: false
        }
    }
}
