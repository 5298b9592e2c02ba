// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// The contents of a driver's license, decoded from a dump.
public struct LicenseReport: Hashable, Sendable {
    /// The kind of card.
    public var kind: LicenseKind
    /// Every item that was read, file by file in card order, as written on the card.
    public var fields: [LicenseField]
    /// The state of PIN 1 (on a My Number card, of its only PIN) as reported by the card; `nil` when not queried.
    public var pin1: CardPINState?
    /// The state of PIN 2 as reported by the card; `nil` when not queried.
    public var pin2: CardPINState?
    /// Files that need a PIN that was not presented or was refused.
    package var withheldFiles: [LicenseFile]
    /// The problems found, file by file.
    public var warnings: [LicenseWarning]

    /// The number of the PIN that the withheld files need, and why it was refused.
    ///
    /// A refused PIN comes first, PIN 1 before PIN 2; otherwise the first PIN that was not presented, without a
    /// refusal. `nil` when nothing is withheld.
    public var missingPIN: MissingPIN? {
        guard !withheldFiles.isEmpty else { return nil }
        if let refusal = pin1?.refusal { return MissingPIN(number: 1, refusal: refusal) }
        if let refusal = pin2?.refusal { return MissingPIN(number: 2, refusal: refusal) }
        return MissingPIN(number: pin1?.isVerified == true ? 2 : 1, refusal: nil)
    }

    /// The PIN that withheld files need.
    public struct MissingPIN: Hashable, Sendable {
        /// 1 or 2.
        public let number: Int
        /// Why it was refused; `nil` if it was not presented.
        public let refusal: CardPINState.Reason?
    }

    /// The items that need a PIN that was not presented or was refused, each listed once.
    ///
    /// Items that were read from another file are not included.
    public var withheld: [LicenseItem] {
        var items: [LicenseItem] = []
        for file in withheldFiles {
            for item in DecoderTables.licenseItems.items(of: file)
            where !items.contains(item) && item.member != nil { items.append(item) }
        }
        return items
    }

    /// Every item of a kind, in card order.
    public func fields(_ item: LicenseItem) -> [LicenseField] { fields.filter { $0.item == item } }

    /// The first item of a kind, or `nil` when it was not read.
    public func field(_ item: LicenseItem) -> LicenseField? { fields.first { $0.item == item } }

    /// The text of an item as it was issued; `nil` when it was not read or the card has none.
    package func text(_ item: LicenseItem) -> JISText? {
        if case .text(let text)? = field(item)?.value { text } else { nil }
    }

    /// The characters of an item; `nil` when it was not read, the card has none, or it holds something else.
    package func code(_ item: LicenseItem) -> String? {
        if case .code(let text)? = field(item)?.value { text } else { nil }
    }

    /// The date of an item; `nil` when it was not read or the card has none.
    package func date(_ item: LicenseItem) -> LicenseDate? {
        if case .date(let date)? = field(item)?.value { date } else { nil }
    }

    /// The bytes of an item; `nil` when it was not read or is empty.
    package func bytes(_ item: LicenseItem) -> [UInt8]? {
        guard let raw = field(item)?.raw, !raw.isEmpty else { return nil }
        return raw
    }
}

extension LicenseReport {
    /// The later entries in card order, without empty ones.
    public var laterEntries: [LaterEntry] {
        fields.compactMap { field in
            if case .entry(let entry) = field.value { LaterEntry(field: field, entry: entry) } else { nil }
        }
    }

    /// A later entry and the item that it belongs to.
    public struct LaterEntry: Hashable, Sendable {
        /// The item.
        public let field: LicenseField
        /// The entry.
        public let entry: LicenseLaterEntry
    }

    /// The items that a later entry replaces, each with the item of that entry.
    static let replacements: [(item: LicenseItem, change: LicenseItem)] = [
        (.name, .newName), (.nameKana, .newNameKana), (.address, .newAddress), (.commission, .newCommission),
        (.registeredDomicile, .newRegisteredDomicile),
    ]

    /// The last entry of a kind on the card, which is the one in force.
    package func newest(_ item: LicenseItem) -> LicenseLaterEntry? {
        laterEntries.last { $0.field.item == item }?.entry
    }

    /// The text now in force: that of the newest later entry, or else the text as issued.
    private func current(_ item: LicenseItem, _ change: LicenseItem) -> JISText? {
        newest(change)?.text ?? text(item)
    }

    /// 氏名.
    public var name: JISText? { current(.name, .newName) }
    /// 呼び名（カナ）.
    public var nameKana: JISText? { current(.nameKana, .newNameKana) }
    /// 住所.
    public var address: JISText? { current(.address, .newAddress) }
    /// 公安委員会名.
    public var commission: JISText? { current(.commission, .newCommission) }
    /// 本籍.
    public var registeredDomicile: JISText? { current(.registeredDomicile, .newRegisteredDomicile) }

    /// 免許の条件 as issued.
    ///
    /// 新条件 and 条件解除 are later entries; which conditions remain in force is left to the reader.
    public var conditions: [JISText] {
        fields(.conditions).compactMap { if case .text(let text) = $0.value { text } else { nil } }
    }

    /// 免許証の色区分; `nil` when it was not read or is not one of the three known values.
    public var colorClass: LicenseColorClass? { text(.colorClass).flatMap(LicenseColorClass.init) }

    /// 備考.
    public var remarks: [JISText] {
        fields(.remarks).compactMap { field in
            switch field.value {
            case .text(let text): text
            case .entry(let entry): entry.text
            default: nil
            }
        }
    }

    /// The categories of vehicles in card order, held or not.
    public var categories: [LicenseCategory] { fields.compactMap(LicenseCategory.init) }

    /// The free data; `nil` when it was not read.
    public var edition: LicenseEdition? {
        if case .edition(let edition)? = field(.edition)?.value { edition } else { nil }
    }

    /// Whether the holder has set PINs; `nil` when this was not read.
    public var arePINsSet: Bool? {
        if case .flag(let flag)? = field(.pinSetting)?.value { flag } else { nil }
    }

    /// The day of issue, from the license's text or else from the free data.
    public var issued: CalendarDate? { date(.issueDate)?.day?.date ?? edition?.issued }

    /// The last day of validity, from the license's text or else from the free data.
    public var expires: CalendarDate? { date(.expiryDate)?.day?.date ?? edition?.expires }

    /// The photo, a JPEG 2000 file; `nil` when it was not read or the card has none.
    public var photo: [UInt8]? { bytes(.photo) }
}

extension LicenseReport {
    /// The members of `kazasu.license/1` after `schema` and before `faults`, which need words.
    ///
    /// Unread items have no member; items that the card lacks are null.
    ///
    /// - Parameters:
    ///   - language: the language of names; keys and ids never change.
    ///   - redact: returns the replacement for a personal value.
    package func json(_ language: Language, redact: (String) -> String) -> JSONObject {
        var object = JSONObject([("kind", .string(kind.rawValue))])
        object.add(Self.items, of: self, language, redact)
        if let pin1 { object["pin1TriesLeft"] = .optional(pin1.triesLeft) }
        if let pin2 { object["pin2TriesLeft"] = .optional(pin2.triesLeft) }
        object["withheld"] = .array(withheldMembers.filter { object[$0] == nil }.map { .string($0) })
        if let missingPIN { object["withheldReason"] = .string(missingPIN.refusal?.rawValue ?? "noPIN") }
        return object
    }

    /// The members that would be present if the PINs had been presented and accepted.
    private var withheldMembers: [String] {
        var members: [String] = []
        for member in withheld.compactMap(\.member) where !members.contains(member) { members.append(member) }
        return members
    }

    fileprivate func hex(_ item: LicenseItem, _ place: Int) -> JSONValue {
        .text(field(item)?.raw.element(at: place).map { Hex.encode($0, digits: 2) })
    }

    /// The items in the order of documents; what they are called and whether they are personal is a ``LicenseItem``'s.
    package static let items: [IdentityItem<LicenseReport>] = [
        item(.edition) { report, _ in .text(report.edition?.version) },
        item(.makers) { report, _ in
            ["manufacturer": report.hex(.makers, 0), "cryptographicFunction": report.hex(.makers, 1)]
        },
        item(.pinSetting) { report, _ in report.arePINsSet.map { .bool($0) } ?? .null },
        bytes(.characterSet), text(.name, \.name), text(.nameKana, \.nameKana), text(.alias), text(.unifiedNameKana),
        date(.birthDate) { $0.date(.birthDate)?.day?.date }, text(.address, \.address),
        date(.issueDate, \.issued), code(.referenceNumber), text(.colorClass), date(.expiryDate, \.expires),
        item(.conditions) { report, mask in .array(report.conditions.map { .string(mask($0.description)) }) },
        text(.commission, \.commission), code(.number), code(.historyNumber),
        date(.historyDate) { $0.date(.historyDate)?.day?.date }, bytes(.driverClass),
        [
            .member("categories") { report, language, _ in
                report.field(.categories).map { _ in .array(report.categories.map { $0.json(language) }) }
            }
        ],
        text(.registeredDomicile, \.registeredDomicile),
        item(.remarks) { report, mask in .array(report.remarks.map { .string(mask($0.description)) }) },
        [
            .member("laterEntries") { report, _, redact in
                guard report.hasLaterEntries else { return nil }
                return .array(report.laterEntries.map { $0.entry.json($0.field, redact) })
            },
            .member("asIssued") { report, _, redact in
                report.hasLaterEntries ? .object(report.asIssued(redact)) : nil
            },
        ],
        pictures(.externalCharacters, "外字"), pictures(.missingCharacterImages, "欠字"),
        item(.photo) { _, _ in .null },
        [.member("photoBytes") { report, _, _ in report.field(.photo).map { _ in .optional(report.photo?.count) } }],
        item(.signatureValue) { report, mask in
            [
                "issuer": report.code(.signatureIssuer, mask), "subject": report.code(.signatureSubject, mask),
                "serial": report.code(.signatureSerial, mask),
                "subjectKeyIdentifier": report.code(.signatureKeyIdentifier, mask),
                // It cannot be verified.
                "value": report.code(.signatureValue, mask), "checked": false,
            ]
        },
    ].flatMap(\.self)

    private typealias Items = [IdentityItem<LicenseReport>]

    /// An item; without a member where it was not read.
    private static func item(
        _ item: LicenseItem, _ json: @escaping @Sendable (LicenseReport, (String) -> String) -> JSONValue
    ) -> Items {
        [
            .member(item.member ?? item.rawValue) { report, _, redact in
                report.field(item).map { _ in json(report, { item.masked($0, redact) }) }
            }
        ]
    }

    private static func text(
        _ item: LicenseItem, _ text: @escaping @Sendable (LicenseReport) -> JISText?
    ) -> Items {
        self.item(item) { report, mask in .text(text(report).map { mask($0.description) }) }
    }

    private static func text(_ item: LicenseItem) -> Items { text(item) { $0.text(item) } }

    private static func bytes(_ item: LicenseItem) -> Items {
        self.item(item) { report, _ in .text(report.bytes(item).map { Hex.encode($0) }) }
    }

    private static func code(_ item: LicenseItem) -> Items { self.item(item) { $0.code(item, $1) } }

    /// A date in both forms, and its bytes where they are none; the free data has no era.
    private static func date(
        _ item: LicenseItem, _ day: @escaping @Sendable (LicenseReport) -> CalendarDate?
    ) -> Items {
        let key = item.rawValue
        return [
            .member(key) { report, _, redact in
                let day = day(report)
                guard report.field(item) != nil || day != nil else { return nil }
                return .text(day.map { item.masked($0.description, redact) })
            },
            .member(key + "Japanese") { report, _, redact in
                report.field(item).map { _ in .text(report.date(item)?.day.map { item.masked($0.japanese, redact) }) }
            },
            .member(key + "Raw") { report, _, redact in
                guard let field = report.field(item), case .invalid? = report.date(item) else { return nil }
                return .string(item.masked(Hex.encode(field.raw), redact))
            },
        ]
    }

    private static func pictures(_ item: LicenseItem, _ name: String) -> Items {
        self.item(item) { report, mask in
            .array(
                report.fields(item).filter { !$0.raw.isEmpty }.map {
                    ["name": .string("\(name)\($0.number)"), "data": .string(mask(Hex.encode($0.raw)))]
                })
        }
    }

    fileprivate func code(_ item: LicenseItem, _ mask: (String) -> String) -> JSONValue {
        .text(field(item).flatMap { $0.value == .absent ? nil : mask($0.value.words.english) })
    }

    fileprivate var hasLaterEntries: Bool {
        fields.contains { $0.file == .laterEntries || $0.file == .laterDomicile }
    }

    /// The texts that later entries have replaced.
    fileprivate func asIssued(_ redact: (String) -> String) -> JSONObject {
        var object = JSONObject()
        for (item, change) in LicenseReport.replacements where newest(change) != nil && field(item) != nil {
            object[item.rawValue] = .text(text(item).map { item.masked($0.description, redact) })
        }
        return object
    }
}

extension LicenseItem {
    /// A text of the item, masked if it is personal.
    fileprivate func masked(_ text: String, _ redact: (String) -> String) -> String {
        isPersonal ? redact(text) : text
    }
}

extension LicenseCategory {
    /// An element of `categories`.
    func json(_ language: Language) -> JSONValue {
        [
            "id": .string(id), "name": .string(name[language]), "group": .bool(isGroup),
            "held": isHeld.map { .bool($0) } ?? .null, "firstDate": .text(since?.day?.date.description),
            "firstDateJapanese": .text(since?.day?.japanese),
        ]
    }
}

extension LicenseLaterEntry {
    /// An element of `laterEntries`.
    func json(_ field: LicenseField, _ redact: (String) -> String) -> JSONValue {
        [
            "item": .string(field.item.rawValue), "number": .int(field.number),
            "date": .text(date.day?.date.description), "dateJapanese": .text(date.day?.japanese),
            "text": .string(field.item.masked(text.description, redact)),
            "commission": .string(commission.description),
        ]
    }
}

extension CardKind {
    /// A Japanese driver's license.
    public static let license = CardKind(rawValue: "license")
}

extension DumpReports {
    /// The driver's license; `nil` if the dump contains none.
    public var license: LicenseReport? { document() }
}

extension LicenseFile: IdentityFile {}

/// A problem with a file of a license.
public typealias LicenseWarning = IdentityWarning<LicenseFile>

extension LicenseReport: IdentityDocument {
    package static let kind = CardKind.license
    package static let faultsHaveTags = true
    package static func decode(_ dump: CardDump) -> LicenseReport? { LicenseDecoder.decode(dump) }
    package func picture(_ id: String) -> [UInt8]? { id == "photo" ? photo : nil }

    package static func name(of file: FileIdentifier, in application: AID?, of dump: CardDump) -> LocalizedText? {
        // Other cards have other files in the master file.
        guard application != nil || LicenseDecoder.decode(dump)?.kind == .license else { return nil }
        return LicenseFile.allCases.first { $0.application == application && $0.id == file }?.name
    }
}

extension LicenseReport: Encodable {
    /// The members of `kazasu.license/1` after `card`.
    ///
    /// - Parameters:
    ///   - photoPath: the path that the photo was written to, if it was.
    ///   - redact: returns the replacement for a personal value.
    package func members(
        _ language: Language, photoPath: String? = nil, redact: (String) -> String = { $0 }
    ) -> JSONObject {
        var object = json(language, redact: redact)
        if let photoPath { object["photo"] = .string(photoPath) }
        object["faults"] = faults(language)
        return object
    }

    /// Encodes the members of the document `kazasu.license/1` after `card`; the photo is ``photo``.
    public func encode(to encoder: any Encoder) throws {
        try JSONValue.object(members(Language(of: encoder))).encode(to: encoder)
    }
}
