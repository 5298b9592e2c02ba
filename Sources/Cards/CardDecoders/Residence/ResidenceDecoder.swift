// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// Decodes a dump of a residence card. It never talks to a card, and no input can make it trap.
///
/// Sources: eringoio/zairyu-card-reader and libjeid's samples for codes and their meanings.
public enum ResidenceDecoder {
    /// Decodes a dump; `nil` when it is not of such a card, or of an unknown type.
    public static func decode(_ dump: CardDump) -> ResidenceReport? {
        guard let data = dump.file(.type)?.data, let type = type(data) else { return nil }
        var report = ResidenceReport(type: type)
        for file in [.version] + ResidenceFile.files(of: type) {
            report.read(file, dump.file(file)) { report, data in
                guard let values = ResidenceLayout.values(data, of: file, on: type) else {
                    return report.warn(file, .layout)
                }
                report.add(file, values)
            }
        }
        return report
    }

    /// The type of card in the file MF/EF02.
    package static func type(_ data: [UInt8]) -> ResidenceType? {
        ResidenceType.allCases.first { card in
            ResidenceLayout.values(data, of: .type, on: card)?[0xC1] == Array(card.rawValue.utf8)
        }
    }
}

extension ResidenceReport {
    fileprivate mutating func warn(_ file: ResidenceFile, _ reason: ResidenceWarning.Reason) {
        let warning = ResidenceWarning(file: file, reason: reason)
        if !warnings.contains(warning) { warnings.append(warning) }
    }

    fileprivate mutating func add(_ file: ResidenceFile, _ values: [BERTag: [UInt8]]) {
        switch file {
        case .type, .signature: break
        case .version: version = ascii(values[0xC0], file)
        case .number: number = ascii(values[0xC2], file)
        case .entries: addEntries(values)
        case .front: add(.front, values[0xD0])
        case .photo: add(.photo, values[0xD1])
        case .nameAndPhoto:
            add(.name, values[0xD0])
            add(.photo, values[0xD1])
        case .addressPicture: add(.address, values[0xDFD1])
        case .address:
            addressDate = date(values[0xD2], file)
            municipality = ascii(values[0xD3], file)
            address = text(values[0xD4], file)
        case .comprehensivePermission: addText(values[0xD5], file, isComprehensive: true)
        case .individualPermission: addText(values[0xD6], file, isComprehensive: false)
        case .pending: pending = code(values[0xD7], file, Self.pendingNames)
        case .permissions: addPermissions(values)
        case .pendingApplication: pending = code(values[0xD8], file, Self.pendingNames)
        case .remarks:
            recorded = code(values[0xD9], file, Self.recordedNames)
            remarks = text(values[0xDE], file)
        }
    }

    private mutating func addEntries(_ values: [BERTag: [UInt8]]) {
        validUntil = date(values[0xC5], .entries)
        birthDate = date(values[0xC6], .entries)
        sex = code(values[0xC7], .entries, Self.sexNames)
        nationality = code(
            values[0xC8], .entries, [String(repeating: "X", count: 3): LocalizedText("stateless", "無国籍")])
        status = code(values[0xC9], .entries, [:])
        if let found = code(values[0xCE], .entries, [:]) {
            let name = Self.periodName(found.code)
            if name == nil { warn(.entries, .value) }
            period = ResidenceCode(code: found.code, name: name)
        }
        permission = code(values[0xCA], .entries, [:])
        permissionDate = date(values[0xCB], .entries)
        work = code(values[0xCC], .entries, Self.workNames)
        until = date(values[0xCD], .entries)
        isStayBlank = Self.content(values[0xCD]).isEmpty
    }

    private mutating func addPermissions(_ values: [BERTag: [UInt8]]) {
        if let found = code(values[0xD5], .permissions, Self.comprehensiveNames) {
            activities.append(
                Activity(isComprehensive: true, code: found, text: nil, until: date(values[0xD6], .permissions)))
        }
        if let found = code(values[0xD7], .permissions, Self.individualNames) {
            activities.append(Activity(isComprehensive: false, code: found, text: nil, until: nil))
        }
    }

    private mutating func addText(_ value: [UInt8]?, _ file: ResidenceFile, isComprehensive: Bool) {
        guard let text = text(value, file) else { return }
        activities.append(Activity(isComprehensive: isComprehensive, code: nil, text: text, until: nil))
    }

    private mutating func add(_ picture: Picture, _ value: [UInt8]?) {
        guard let value, value.contains(where: { $0 != 0 }) else { return }
        pictures[picture] = PictureFile.content(of: value)
    }

    // MARK: Values

    /// A value without the padding at its end.
    private static func content(_ value: [UInt8]?) -> [UInt8] {
        let value = value ?? []
        return Array(value[..<((value.lastIndex { $0 != 0 } ?? -1) + 1)])
    }

    private mutating func ascii(_ value: [UInt8]?, _ file: ResidenceFile) -> String? {
        let content = Self.content(value)
        guard !content.isEmpty else { return nil }
        guard content.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            warn(file, .value)
            return nil
        }
        return String(decoding: content, as: UTF8.self)
    }

    private mutating func code(
        _ value: [UInt8]?, _ file: ResidenceFile, _ names: [String: LocalizedText]
    ) -> ResidenceCode? {
        ascii(value, file).map { ResidenceCode(code: $0, name: names[$0]) }
    }

    private mutating func date(_ value: [UInt8]?, _ file: ResidenceFile) -> CalendarDate? {
        let content = Self.content(value)
        guard !content.isEmpty else { return nil }
        guard let digits = CardText.digits(content, count: 8) else {
            warn(file, .value)
            return nil
        }
        func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 10 + $1 } }
        let date = CalendarDate(year: number(0..<4), month: number(4..<6), day: number(6..<8))
        if date == nil { warn(file, .value) }
        return date
    }

    /// UTF-8, or where it is not, Shift_JIS: sources disagree about the first generation.
    private mutating func text(_ value: [UInt8]?, _ file: ResidenceFile) -> String? {
        let content = Self.content(value)
        guard !content.isEmpty else { return nil }
        if let text = String(validating: content, as: UTF8.self) { return text }
        guard let text = CardText.shiftJIS(content) else {
            warn(file, .value)
            return nil
        }
        warn(file, .shiftJIS)
        return text
    }
}

extension ResidenceReport {
    private static let sexNames = [
        "1": LocalizedText("male", "男"), "2": LocalizedText("female", "女"), "3": LocalizedText("not stated", "不詳"),
    ]
    private static let workNames = [
        "1": LocalizedText("no restriction", "就労制限なし"),
        "2": LocalizedText("only activities permitted under the status of residence", "在留資格に基づく就労活動のみ可"),
        "4": LocalizedText(
            "only activities named in the letter of designation", "指定書記載機関での在留資格に基づく就労活動のみ可"),
        "9": LocalizedText("not permitted", "就労不可"),
    ]
    private static let comprehensiveNames = [
        "0": LocalizedText("none", "なし"),
        "1": LocalizedText("up to 28 hours a week, no amusement trade", "原則週28時間以内・風俗営業等の従事を除く"),
        "2": LocalizedText("up to 28 hours a week, teaching and the like", "教育・技術・人文知識・国際業務等に該当する活動・週28時間以内"),
    ]
    private static let individualNames = [
        "0": LocalizedText("none", "なし"), "1": LocalizedText("permitted; see the letter of permission", "あり（許可書に記載）"),
    ]
    private static let pendingNames = [
        "0": LocalizedText("none", "なし"), "1": LocalizedText("pending", "申請中"),
    ]
    private static let recordedNames = [
        "0": LocalizedText("none", "なし"), "1": LocalizedText("recorded", "記録あり"),
    ]

    private static func periodName(_ code: String) -> LocalizedText? {
        guard [3, 4].contains(code.utf8.count), code.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int(code)
        else { return nil }
        if code.utf8.count == 3 { return LocalizedText("\(number) days", "\(number)日") }
        guard number > 0 else { return LocalizedText("no limit", "無期限") }
        let (years, months) = (number / 100, number % 100)
        var (english, japanese) = ([String](), "")
        if years > 0 {
            english.append("\(years) \(years == 1 ? "year" : "years")")
            japanese += "\(years)年"
        }
        if months > 0 {
            english.append("\(months) \(months == 1 ? "month" : "months")")
            japanese += years > 0 ? "\(months)か月" : "\(months)月"
        }
        return LocalizedText(english.joined(separator: " "), japanese)
    }
}

/// Picture files inside values that are padded with 00.
package enum PictureFile {
    /// The picture without the padding. Of a TIFF, which may itself end with 00, as much as its directory says; where that cannot be
    /// followed, everything.
    package static func content(of value: [UInt8]) -> [UInt8] {
        if isTIFF(value) { return tiffLength(value).map { Array(value.prefix($0)) } ?? value }
        return Array(value[..<((value.lastIndex { $0 != 0 } ?? -1) + 1)])
    }

    /// `tiff`, `jp2` (JPEG 2000, also a bare code stream), or `unknown`.
    package static func format(of bytes: [UInt8]) -> String {
        if isTIFF(bytes) { return "tiff" }
        let isJPEG2000 =
            bytes.starts(with: [0x00, 0x00, 0x00, 0x0C, 0x6A, 0x50, 0x20, 0x20])
            || bytes.starts(with: [0xFF, 0x4F, 0xFF, 0x51])
        if isJPEG2000 { return "jp2" }
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return "png" }
        return bytes.starts(with: [0xFF, 0xD8, 0xFF]) ? "jpeg" : "unknown"
    }

    private static func isTIFF(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: [0x49, 0x49, 0x2A, 0x00]) || bytes.starts(with: [0x4D, 0x4D, 0x00, 0x2A])
    }

    /// Where the first image's directory, its values and its strips end (TIFF 6.0).
    private static func tiffLength(_ bytes: [UInt8]) -> Int? {
        let isLittle = bytes.first == 0x49
        func number(_ offset: Int, _ count: Int) -> Int? {
            guard offset >= 0, offset <= bytes.count - count else { return nil }
            let digits = bytes[offset..<offset + count]
            return (isLittle ? Array(digits.reversed()) : Array(digits)).reduce(0) { $0 << 8 | Int($1) }
        }
        guard let directory = number(4, 4), directory >= 8, let entries = number(directory, 2),
            (1...100).contains(entries)
        else { return nil }
        var end = directory + 2 + 12 * entries + 4
        var (strips, lengths) = ([Int](), [Int]())
        let widths = [1: 1, 2: 1, 3: 2, 4: 4, 5: 8]
        for entry in 0..<entries {
            let start = directory + 2 + 12 * entry
            guard let tag = number(start, 2), let type = number(start + 2, 2), let count = number(start + 4, 4),
                let width = widths[type], count <= bytes.count
            else { return nil }
            var place = start + 8
            if count * width > 4 {
                guard let offset = number(start + 8, 4) else { return nil }
                place = offset
                end = max(end, offset + count * width)
            }
            guard tag == 273 || tag == 279, width <= 4 else { continue }
            let values = (0..<count).map { number(place + $0 * width, width) ?? bytes.count + 1 }
            if tag == 273 { strips = values } else { lengths = values }
        }
        for (strip, length) in zip(strips, lengths) { end = max(end, strip + length) }
        return end <= bytes.count ? end : nil
    }
}
