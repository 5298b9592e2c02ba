// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// The contents of an electronic passport, decoded from a dump.
public struct PassportReport: Hashable, Sendable {
    /// The version of the data structure, four digits such as `0107`; nothing signs it.
    public var version: String?
    /// The data groups that the passport says it has, 1 to 16: those of EF.COM, which nothing signs, or without it those of the signed list.
    public var dataGroups: [Int] = []
    /// The machine-readable zone.
    public var machineReadableZone: MachineReadableZone?
    /// The holder's face, JPEG or JPEG 2000.
    public var photo: [UInt8]?
    /// Files that need the machine-readable zone, which was not given or not accepted.
    public var withheld: [PassportFile] = []
    /// The problems found, file by file.
    public var warnings: [PassportWarning] = []
    /// How it was opened; `nil` if it was not, and for a report of a dump.
    package(set) public var access: PassportAccess?
    /// Whether EF.COM was read.
    var hasIndex = false
    /// Whether it comes from saved files, without a chip.
    package var isFromFiles = false
    /// What the chip answered to the question whether it is a copy; `nil` for a report of a dump.
    package var evidence: ChipEvidence?
    /// Number and dates as they were typed, compared with the zone; `nil` when they were not typed, and for a report of a dump.
    package var typed: TypedMatch? {
        didSet {
            if typed == .other { warnings.append(PassportWarning(file: .machineReadableZone, reason: .otherDocument)) }
        }
    }

    init() {}

    /// The day on which the document expires. Its zone has two digits of the year; electronic passports exist since 2004.
    public var expiryDate: CalendarDate? {
        machineReadableZone.flatMap { CalendarDate(century: 20, $0.expiryDate) }
    }

    /// The possible birth dates, since the zone has two digits of the year: one where only one lies before the expiry; both centuries
    /// otherwise; none where day or month are not stated.
    public var birthDates: [CalendarDate] {
        guard let birth = machineReadableZone?.birthDate, let expiryDate else { return [] }
        return [20, 19].compactMap { CalendarDate(century: $0, birth) }.filter { $0 < expiryDate }
    }
}

extension CalendarDate {
    /// A date of six digits, `YYMMDD`.
    fileprivate init?(century: Int, _ text: String) {
        guard let digits = CardText.digits(text.utf8, count: 6) else { return nil }
        self.init(
            year: century * 100 + digits[0] * 10 + digits[1], month: digits[2] * 10 + digits[3],
            day: digits[4] * 10 + digits[5])
    }
}

extension PassportReport {
    /// The members of `kazasu.passport/1` that come from the passport, except `faults`; what was not read is null.
    ///
    /// - Parameters:
    ///   - language: the language of names; keys and codes never change.
    ///   - redact: returns the replacement for a personal value.
    package func json(_ language: Language, redact: (String) -> String) -> JSONObject {
        JSONObject(Self.items, of: self, language, redact)
    }

    /// The items in the order of documents and of the text.
    package static let items: [IdentityItem<PassportReport>] = [
        .text("documentCode", LocalizedText("Document", "種別"), isPersonal: false, \.machineReadableZone?.documentCode),
        .text("issuer", LocalizedText("Issuing state", "発行国"), \.machineReadableZone?.issuer),
        .text("number", LocalizedText("Number", "旅券番号"), \.machineReadableZone?.number),
        .text("surname", LocalizedText("Surname", "姓"), \.machineReadableZone?.surname),
        .text("givenNames", LocalizedText("Given names", "名"), \.machineReadableZone?.givenNames),
        .text("nationality", LocalizedText("Nationality", "国籍"), \.machineReadableZone?.nationality),
        .member("birthDate", LocalizedText("Date of birth", "生年月日")) { report, _, redact in
            report.birthDates.count == 1 ? .text(report.birthDates.first.map { redact($0.description) }) : .null
        },
        .member("birthDateCandidates") { report, _, redact in
            let dates = report.birthDates
            return .array(dates.count == 1 ? [] : dates.map { .string(redact($0.description)) })
        },
        .value("sex", LocalizedText("Sex", "性別")) { report in
            report.machineReadableZone.map { .code($0.sex, sexName($0.sex)) }
        },
        .date("expiryDate", LocalizedText("Expires", "有効期間満了日"), \.expiryDate),
        .value("optionalData", LocalizedText("Optional data", "任意項目")) { report in
            report.machineReadableZone.flatMap { $0.optionalData.isEmpty ? nil : .text($0.optionalData) }
        },
        .member("machineReadableZone") { report, _, redact in
            .array((report.machineReadableZone?.lines ?? []).map { .string(redact($0)) })
        },
        .member("access") { report, _, _ in report.access?.json ?? .null },
        .text("version", isPersonal: false, \.version),
        .member("dataGroups") { report, _, _ in .array(report.dataGroups.map { .int($0) }) },
    ]

    /// What a signature covers.
    package static let signedItems: [IdentityItem<PassportReport>] = [
        .picture("machineReadableZone", LocalizedText("Machine-readable zone", "機械読取領域")),
        .picture("photo", LocalizedText("Photo", "顔写真")),
        .picture("dataGroups", LocalizedText("List of data groups", "データグループの一覧")),
    ]

    /// What the character for the sex means.
    package static func sexName(_ code: String) -> LocalizedText? {
        switch code {
        case "M": LocalizedText("male", "男")
        case "F": LocalizedText("female", "女")
        case "<", "X": LocalizedText("not stated", "記載なし")
        default: nil
        }
    }
}

extension CardKind {
    /// An electronic passport.
    public static let passport = CardKind(rawValue: "passport")
}

extension DumpReports {
    /// The passport; `nil` if the dump contains none.
    public var passport: PassportReport? { document() }
}

extension PassportFile: IdentityFile {}

/// A problem with a file of a passport.
public typealias PassportWarning = IdentityWarning<PassportFile>

extension PassportReport: IdentityDocument {
    package static let kind = CardKind.passport
    package static func decode(_ dump: CardDump) -> PassportReport? { PassportDecoder.decode(dump) }
    package var withheldFiles: [PassportFile] {
        get { withheld }
        set { withheld = newValue }
    }
    package func picture(_ id: String) -> [UInt8]? { id == "photo" ? photo : nil }

    package static func name(of file: FileIdentifier, in application: AID?, of dump: CardDump) -> LocalizedText? {
        let isPassport = application == PassportFile.application
        if isPassport, let found = PassportFile.allCases.first(where: { $0.id == file }) { return found.name }
        let isAccess = [PassportFile.cardAccess, PassportFile.cardSecurity].contains(file)
        let isGroup = isPassport && (0x0101...0x0110).contains(file.rawValue)
        guard isGroup || application == nil && isAccess else { return nil }
        let name = SavedPassport.name(of: file, isMaster: !isPassport)
        return LocalizedText(name.replacing("_", with: "."), name.replacing("_", with: "."))
    }
}

extension PassportReport: Encodable {
    /// The members of `kazasu.passport/1` after `card`.
    ///
    /// - Parameters:
    ///   - pictures: the pictures that were written, and where.
    ///   - signature: what the check of the signature found; `nil` leaves it out.
    ///   - chip: what the check of the chip found; `nil` leaves it out.
    ///   - redact: returns the replacement for a personal value.
    package func members(
        _ language: Language, pictures: JSONValue? = nil, signature: JSONValue?, chip: JSONValue? = nil,
        redact: (String) -> String = { $0 }
    ) -> JSONObject {
        var object = json(language, redact: redact)
        object["pictures"] = pictures
        object["signature"] = signature
        object["chip"] = chip
        object["source"] = .string(isFromFiles ? "files" : "card")
        object["withheld"] = .array(withheld.map { .string($0.rawValue) })
        object["faults"] = faults(language)
        return object
    }

    /// Encodes the members of the document `kazasu.passport/1` that come from the passport; the photo is ``photo``.
    public func encode(to encoder: any Encoder) throws {
        try JSONValue.object(members(Language(of: encoder), signature: nil)).encode(to: encoder)
    }
}
