// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// The contents of a residence card or a special permanent resident certificate, decoded from a dump.
///
/// Cards of the first generation have name, birth date, nationality, status and card number only in the picture of the front.
public struct ResidenceReport: Hashable, Sendable {
    /// The type of card.
    public let type: ResidenceType
    /// The version of the specification, four digits.
    public var version: String?
    /// The card's number; second generation.
    public var number: String?
    /// 有効期間の満了日 of the card; second generation, as all up to ``until``.
    public var validUntil: CalendarDate?
    /// 生年月日.
    public var birthDate: CalendarDate?
    /// 性別.
    public var sex: ResidenceCode?
    /// Country or region; three letters on known cards.
    public var nationality: ResidenceCode?
    /// 在留資格. The ministry's table of codes is not public.
    public var status: ResidenceCode?
    /// 在留期間: `0000` for no limit, years and months as `YYMM`, or days as `DDD`.
    public var period: ResidenceCode?
    /// 許可の種類.
    public var permission: ResidenceCode?
    /// 許可年月日.
    public var permissionDate: CalendarDate?
    /// 就労制限の有無.
    public var work: ResidenceCode?
    /// 在留期間の満了日.
    public var until: CalendarDate?
    /// 資格外活動許可.
    public var activities: [Activity] = []
    /// The day on which the address was written; first generation, as ``municipality`` and ``address``.
    public var addressDate: CalendarDate?
    /// The code of the municipality, six digits.
    public var municipality: String?
    /// 住居地 as text.
    public var address: String?
    /// Whether an application for extension or change is pending.
    public var pending: ResidenceCode?
    /// Whether the Commissioner recorded something.
    public var recorded: ResidenceCode?
    /// The text of that record, if any.
    public var remarks: String?
    /// The pictures without the padding behind them.
    public var pictures: [Picture: [UInt8]] = [:]
    /// Files that need the number, which was not given or not accepted.
    public var withheld: [ResidenceFile] = []
    /// The problems found, file by file.
    public var warnings: [ResidenceWarning] = []
    /// Whether the field for the end of the stay is blank, as for those who may stay without limit.
    package var isStayBlank = false
    /// The number as it was typed, compared with ``number``; `nil` when it was not typed, for the first generation, which has it only in a
    /// picture, and for a report of a dump.
    package var typed: TypedMatch? {
        didSet {
            if typed == .other { warnings.append(ResidenceWarning(file: .number, reason: .otherDocument)) }
        }
    }

    init(type: ResidenceType) {
        self.type = type
    }

    /// A picture on the card.
    @nonexhaustive
    public enum Picture: String, Hashable, Sendable, CaseIterable {
        /// The printed front, TIFF; first generation.
        case front
        /// The holder's face, JPEG 2000.
        case photo
        /// The name, TIFF; second generation.
        case name
        /// The address, TIFF; second generation.
        case address
    }

    /// A permission to engage in activities other than those permitted under the status of residence.
    public struct Activity: Hashable, Sendable {
        /// Comprehensive (包括許可) or individual (個別許可).
        public var isComprehensive: Bool
        /// The code; second generation.
        public var code: ResidenceCode?
        /// The text; first generation.
        public var text: String?
        /// The last day; second generation, comprehensive.
        public var until: CalendarDate?
    }
}

/// A code on a residence card with its meaning.
public struct ResidenceCode: Hashable, Sendable {
    /// The characters on the card.
    public let code: String
    /// What they mean; `nil` if no public source says it.
    public let name: LocalizedText?
}

extension ResidenceCode {
    /// `{code, name}`.
    fileprivate func json(_ language: Language, _ redact: (String) -> String) -> JSONValue {
        let shown = redact(code)
        return ["code": .string(shown), "name": .text(shown == code ? name?[language] : nil)]
    }
}

extension ResidenceReport {
    /// The members of `kazasu.residence/1` that come from the card, except `faults`; what was not read is null.
    ///
    /// - Parameters:
    ///   - language: the language of names; keys and codes never change.
    ///   - redact: returns the replacement for a personal value.
    package func json(_ language: Language, redact: (String) -> String) -> JSONObject {
        var object = JSONObject([
            ("generation", .int(type.generation)), ("kind", .string(type.word)), ("type", .string(type.rawValue)),
            ("version", .text(version)),
        ])
        object.add(Self.items, of: self, language, redact)
        return object
    }

    /// The items in the order of documents and of the text.
    package static let items: [IdentityItem<ResidenceReport>] = [
        .text("number", LocalizedText("Card number", "カード番号"), \.number),
        // It exists only as a picture.
        .member("name", LocalizedText("Name", "氏名")) { _, _, _ in .null },
        .date("birthDate", LocalizedText("Date of birth", "生年月日"), \.birthDate),
        .code("sex", LocalizedText("Sex", "性別"), \.sex),
        .code("nationality", LocalizedText("Nationality or region", "国籍・地域"), coverage: "nationality", \.nationality),
        .code("status", LocalizedText("Status of residence", "在留資格"), \.status),
        .code("period", LocalizedText("Period of stay", "在留期間"), \.period),
        .date("until", LocalizedText("Stay until", "在留期間の満了日"), coverage: "end of stay", \.until),
        .date(
            "validUntil", LocalizedText("Card valid until", "カードの有効期間"), coverage: "validity of the card", \.validUntil),
        .code("permission", LocalizedText("Permission", "許可の種類"), \.permission),
        .date("permissionDate", LocalizedText("Permission granted", "許可年月日"), coverage: "its date", \.permissionDate),
        .code("work", LocalizedText("Work", "就労制限"), \.work),
        .member("activities", LocalizedText("Other activities", "資格外活動許可")) { report, language, redact in
            .array(report.activities.map { $0.json(language, redact) })
        },
        .text("address", LocalizedText("Address", "住居地"), \.address),
        .text("municipality", LocalizedText("Municipality", "市区町村コード"), \.municipality),
        .date("addressDate", LocalizedText("Address written", "住居地の届出年月日"), \.addressDate),
        .code("pending", LocalizedText("Pending application", "在留期間更新等の申請"), \.pending),
        .code("recorded", nil, \.recorded), .text("remarks", LocalizedText("Remarks", "長官記録事項"), \.remarks),
    ]

    /// What a signature covers beside ``items``.
    package static let pictureItems: [IdentityItem<ResidenceReport>] = [
        .picture("photo", LocalizedText("Photo", "顔写真")),
        .picture("namePicture", LocalizedText("Picture of the name", "氏名画像")),
        .picture("front", LocalizedText("Picture of the front", "券面（表）画像")),
        .picture("addressPicture", LocalizedText("Picture of the address", "住居地画像")),
        .picture("kind", LocalizedText("Type of card", "カード種別")),
    ]
}

extension ResidenceReport.Activity {
    fileprivate func json(_ language: Language, _ redact: (String) -> String) -> JSONValue {
        [
            "kind": .string(isComprehensive ? "comprehensive" : "individual"),
            "code": code?.json(language, redact) ?? .null, "text": .text(text.map(redact)),
            "until": .text(until.map { redact($0.description) }),
        ]
    }
}

extension IdentityItem<ResidenceReport> {
    /// A code with its meaning.
    fileprivate static func code(
        _ id: String, _ title: LocalizedText?, coverage: String? = nil,
        _ path: any KeyPath<ResidenceReport, ResidenceCode?> & Sendable
    ) -> Self {
        value(id, title, coverage: coverage) { $0[keyPath: path].map { .code($0.code, $0.name) } }
    }
}

extension CardKind {
    /// A residence card or a special permanent resident certificate.
    public static let residence = CardKind(rawValue: "residence")
}

extension DumpReports {
    /// The residence card or special permanent resident certificate; `nil` if the dump contains none.
    public var residence: ResidenceReport? { document() }
}

extension ResidenceFile: IdentityFile {}

/// A problem with a file of a residence card.
public typealias ResidenceWarning = IdentityWarning<ResidenceFile>

extension ResidenceReport: IdentityDocument {
    package static let kind = CardKind.residence
    package static func decode(_ dump: CardDump) -> ResidenceReport? { ResidenceDecoder.decode(dump) }
    package var withheldFiles: [ResidenceFile] {
        get { withheld }
        set { withheld = newValue }
    }
    package func picture(_ id: String) -> [UInt8]? { Picture(rawValue: id).flatMap { pictures[$0] } }

    package static func name(of file: FileIdentifier, in application: AID?, of dump: CardDump) -> LocalizedText? {
        // The generations use the same numbers for other files.
        guard let type = dump.file(.type).flatMap({ ResidenceDecoder.type($0.data) }) else { return nil }
        let files = [.type, .version] + ResidenceFile.files(of: type)
        return files.first { $0.application == application && $0.id == file }?.name
    }
}

extension ResidenceReport: Encodable {
    /// The members of `kazasu.residence/1` after `card`.
    ///
    /// - Parameters:
    ///   - pictures: the pictures that were written, and where.
    ///   - signature: what the check of the signature found; `nil` leaves it out.
    ///   - redact: returns the replacement for a personal value.
    package func members(
        _ language: Language, pictures: JSONValue? = nil, signature: JSONValue?,
        redact: (String) -> String = { $0 }
    ) -> JSONObject {
        var object = json(language, redact: redact)
        object["pictures"] = pictures
        object["signature"] = signature
        object["withheld"] = .array(withheld.map { .string($0.rawValue) })
        object["faults"] = faults(language)
        return object
    }

    /// Encodes the members of the document `kazasu.residence/1` that come from the card; pictures are ``pictures``.
    public func encode(to encoder: any Encoder) throws {
        try JSONValue.object(members(Language(of: encoder), signature: nil)).encode(to: encoder)
    }
}
