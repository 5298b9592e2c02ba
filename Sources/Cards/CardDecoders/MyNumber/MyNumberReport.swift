// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// The contents of a My Number card, decoded from a dump.
public struct MyNumberReport: Hashable, Sendable {
    /// The text of the token information; `nil` when it was not read or is not text.
    public var token: String?
    /// The states of the PINs as reported by the card, in the order of ``MyNumberPIN``.
    public var pins: [MyNumberPIN: CardPINState]
    /// The certificates that were read, in DER.
    public var certificates: [MyNumberFile: [UInt8]]
    /// The four items; `nil` when they were not read.
    public var attributes: MyNumberAttributes?
    /// The face of the card; `nil` when it was not read, or is malformed.
    public var face: MyNumberFace?
    /// What the reader found when it checked the four items; `nil` when it did not, and for a report of a dump: what signs them is not
    /// kept.
    package var itemsCheck: MyNumberItemsCheck?
    /// 照合番号B as it was typed, compared with the face; `nil` when it was not typed, and for a report of a dump.
    package var typed: TypedMatch? {
        didSet {
            if typed == .other { warnings.append(MyNumberWarning(file: .face, reason: .otherDocument)) }
        }
    }
    /// Files that need a PIN that was not presented or was refused.
    public var withheld: [MyNumberFile]
    /// The warnings found, file by file.
    public var warnings: [MyNumberWarning]

    /// The kind of card according to the token; `nil` for a text that no source documents.
    public var kind: MyNumberToken? { token.flatMap(MyNumberToken.init(rawValue:)) }
}

extension MyNumberReport {
    /// The members of `kazasu.mynumber/1` after `schema` and before `faults`, which need words; unread items have no
    /// member.
    ///
    /// - Parameters:
    ///   - language: the language of names; keys and ids never change.
    ///   - certificates: the members for each certificate beside its length.
    ///   - redact: returns the replacement for a personal value.
    package func json(
        _ language: Language, certificates summaries: (MyNumberFile) -> JSONObject, redact: (String) -> String
    ) -> JSONObject {
        var object = JSONObject([
            ("token", .text(token)), ("kind", .text(kind?.word)),
            (
                "pins",
                .array(
                    MyNumberPIN.allCases.compactMap { pin in
                        pins[pin].map {
                            [
                                "id": .string(pin.rawValue), "name": .string(pin.name[language]),
                                "triesLeft": .optional($0.triesLeft), "verified": .bool($0.isVerified),
                            ]
                        }
                    })
            ),
        ])
        object["certificates"] = .array(
            MyNumberFile.allCases.compactMap { file in
                certificates[file].map { der in
                    var member = JSONObject([
                        ("id", .string(file.rawValue)), ("name", .string(file.name[language])),
                        ("bytes", .int(der.count)),
                    ])
                    member.merge(summaries(file))
                    return .object(member)
                }
            })
        if attributes != nil { object.add(Self.attributeItems, of: self, language, redact) }
        if face != nil { object.add(Self.faceItems, of: self, language, redact) }
        object["withheld"] = .array(withheldItems.map { .string($0) })
        if let reason = withheldReason { object["withheldReason"] = .string(reason) }
        return object
    }

    /// The same, of a certificate its length alone.
    package func json(_ language: Language, redact: (String) -> String) -> JSONObject {
        json(language, certificates: { _ in JSONObject() }, redact: redact)
    }
}

extension MyNumberReport {
    /// The items that the PIN for card information input opens.
    package static let attributeItems: [IdentityItem<MyNumberReport>] = [
        .text("name", LocalizedText("Name", "氏名"), \.attributes?.name),
        .text("address", LocalizedText("Address", "住所"), \.attributes?.address),
        .date("birthDate", LocalizedText("Date of birth", "生年月日"), \.attributes?.birthDate),
        .value("sex", LocalizedText("Sex", "性別")) { $0.attributes?.sex.map(MyNumberReport.sex) },
    ]

    /// The items of the face.
    package static let faceItems: [IdentityItem<MyNumberReport>] = [
        .date("birthDate", LocalizedText("Date of birth", "生年月日"), \.face?.birthDate),
        .value("sex", LocalizedText("Sex", "性別")) { $0.face?.sex.map(MyNumberReport.sex) },
        .date("expiryDate", LocalizedText("Valid until", "有効期限"), coverage: "expiry", \.face?.expiryDate),
    ]

    /// Every item; birth date and sex are on both.
    package static let items =
        attributeItems + faceItems.filter { item in !attributeItems.contains { $0.id == item.id } }

    /// The pictures of the face.
    package static let pictureItems: [IdentityItem<MyNumberReport>] = [
        .picture("photo", LocalizedText("Photo", "顔写真")),
        .picture("namePicture", LocalizedText("Picture of the name", "氏名の画像")),
        .picture("addressPicture", LocalizedText("Picture of the address", "住所の画像")),
    ]

    /// The code with its meaning where ISO/IEC 5218 defines one.
    private static func sex(_ code: String) -> IdentityItem<MyNumberReport>.Value {
        switch code {
        case "1": .word(code, LocalizedText("male", "男"))
        case "2": .word(code, LocalizedText("female", "女"))
        default: .word(code, nil)
        }
    }
}

extension MyNumberReport {
    /// The names of what a PIN withholds; items that were read otherwise are not among them.
    private var withheldItems: [String] {
        var items: [String] = []
        for file in withheld {
            switch file {
            case .attributes:
                items += ["name", "address"]
                if face == nil, !withheld.contains(.face) { items += ["birthDate", "sex"] }
            case .face: items += ["birthDate", "sex", "expiryDate", "photo", "namePicture", "addressPicture"]
            default: items.append(file.rawValue)
            }
        }
        return items
    }

    /// Why the face or else the four items are withheld.
    private var withheldReason: String? {
        if withheld.contains(.face) { return pins[.cardSurfaceNumberB]?.refusal?.rawValue ?? "noNumber" }
        guard withheld.contains(.attributes) else { return nil }
        return pins[.cardInput]?.refusal?.rawValue ?? "noPIN"
    }
}

extension MyNumberToken {
    /// The identifier for machine use.
    var word: String {
        switch self {
        case .myNumberCard: "myNumberCard"
        case .residentCard: "residentCard"
        case .smartphone: "smartphone"
        }
    }
}

extension CardKind {
    /// A My Number card.
    public static let myNumber = CardKind(rawValue: "mynumber")
}

extension DumpReports {
    /// The My Number card; `nil` if the dump contains none.
    public var myNumber: MyNumberReport? { document() }
}

extension MyNumberFile: IdentityFile {}

/// A problem with a file of a My Number card.
public typealias MyNumberWarning = IdentityWarning<MyNumberFile>

extension MyNumberReport: IdentityDocument {
    package static let kind = CardKind.myNumber
    package static let faultsHaveTags = true
    package static func decode(_ dump: CardDump) -> MyNumberReport? { MyNumberDecoder.decode(dump) }
    package var withheldFiles: [MyNumberFile] {
        get { withheld }
        set { withheld = newValue }
    }
    package func picture(_ id: String) -> [UInt8]? {
        MyNumberFace.Picture(rawValue: id).flatMap { face?.pictures[$0] }
    }

    package static func name(of file: FileIdentifier, in application: AID?, of dump: CardDump) -> LocalizedText? {
        MyNumberFile.allCases.first { $0.application.aid == application && $0.id == file }?.name
    }
}

extension MyNumberReport: Encodable {
    /// Encodes the members of the document `kazasu.mynumber/1` that come from the card; pictures are those of ``face``.
    public func encode(to encoder: any Encoder) throws {
        let language = Language(of: encoder)
        var object = json(language)
        object["faults"] = faults(language)
        try JSONValue.object(object).encode(to: encoder)
    }
}
