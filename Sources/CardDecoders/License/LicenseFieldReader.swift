// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// Makes fields of the items of one file.
struct LicenseFieldReader {
    let file: LicenseFile
    private(set) var fields: [LicenseField] = []
    private(set) var faults: [LicenseFault] = []

    init(_ file: LicenseFile, _ bytes: [UInt8]) {
        self.file = file
        let list = LicenseRecordList(bytes, of: file)
        var seen: Set<LicenseTag> = []
        // A file of many thousand times the same item is told of once.
        var repeated: Set<LicenseTag> = []
        for record in list.records {
            func note(_ reason: LicenseFault.Reason) {
                faults.append(LicenseFault(file: file, tag: record.tag, offset: record.offset, reason: reason))
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
        faults += list.faults
        if list.records.isEmpty, list.faults.isEmpty { faults.append(LicenseFault(file: file, reason: .empty)) }
    }

    private static func value(_ bytes: [UInt8], _ row: LicenseItemRow) -> (LicenseValue, LicenseFault.Reason?) {
        guard !bytes.isEmpty else { return (.absent, nil) }
        let wrong = (LicenseValue.bytes(bytes), LicenseFault.Reason.wrongLength(bytes.count))
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
            // Two sources call it a flag, none gives its values: anything but 00 and 01 stays a byte.
            return (byte > 1 ? .bytes(bytes) : .flag(byte == 1), nil)
        }
    }
}
