// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// Decodes a dump of a My Number card. It never talks to a card, and no input can make it trap.
public enum MyNumberDecoder {
    /// Returns whether a dump is of such a card.
    package static func recognizes(_ dump: CardDump) -> Bool {
        MyNumberApplication.allCases.compactMap(\.aid).contains { dump.application($0) != nil }
    }

    /// Decodes a dump of a My Number card; `nil` when it is of another card.
    public static func decode(_ dump: CardDump) -> MyNumberReport? {
        guard recognizes(dump) else { return nil }
        var report = MyNumberReport(pins: [:], certificates: [:], withheld: [], warnings: [])
        for file in MyNumberFile.allCases {
            let found = application(file.application, dump)?.file(file.id)
            // That a signer's certificate was refused, the state of the signature says.
            report.read(file, found, mayBeRefused: file.isSignersCertificate) { $0.add(file, $1) }
        }
        for pin in MyNumberPIN.allCases {
            report.pins[pin] = application(pin.application, dump)?.file(pin.file)?.pin
        }
        return report
    }

    private static func application(_ application: MyNumberApplication, _ dump: CardDump) -> ApplicationDump? {
        application.aid.flatMap { dump.application($0) }
    }
}

extension MyNumberReport {
    fileprivate mutating func add(_ file: MyNumberFile, _ data: [UInt8]) {
        func fault(_ reason: MyNumberWarning.Reason) -> MyNumberWarning { MyNumberWarning(file: file, reason: reason) }
        switch file {
        case .token:
            token = CardText.ascii(data)
            if token == nil { warnings.append(fault(.notWhatItShouldBe)) }
        case .attributes:
            attributes = MyNumberAttributes(data)
            guard let attributes else {
                warnings.append(fault(.notWhatItShouldBe))
                return
            }
            warnings += attributes.unreadable.map { fault(.item($0)) }
        case .cardInputInformation, .cardInputCertificate, .faceCertificate: break
        case .face:
            face = MyNumberFace(data)
            if face.map({ !$0.isWhole }) ?? true { warnings.append(fault(.notWhatItShouldBe)) }
        case .authenticationCertificate, .authenticationCA, .signatureCertificate, .signatureCA:
            guard let der = MyNumberReport.certificate(data) else {
                warnings.append(fault(.notWhatItShouldBe))
                return
            }
            certificates[file] = der
        }
    }

    /// The data object (a SEQUENCE) at the start of the file, without anything that follows it.
    private static func certificate(_ data: [UInt8]) -> [UInt8]? {
        guard data.first == 0x30, let header = try? BERHeader(data), header.totalLength <= data.count,
            header.length > 0
        else { return nil }
        return Array(data.prefix(header.totalLength))
    }
}

/// The four items of 券面事項入力補助: FF20 with DF22 name, DF23 address, DF24 birth date, DF25 sex, in UTF-8.
///
/// Sources: jpki/myna, AokiApp/jsapdu.
public struct MyNumberAttributes: Hashable, Sendable {
    /// 氏名; `nil` when it is missing or not text.
    public let name: String?
    /// 住所; `nil` when it is missing or not text.
    public let address: String?
    /// 生年月日, eight digits on the card; `nil` when it is missing or not a valid date.
    public let birthDate: CalendarDate?
    /// 性別 as the card's code; `nil` when it is missing or not text.
    public let sex: String?
    /// The items that are missing or malformed.
    public let unreadable: [Item]

    /// The items of the file; the raw values are their tags.
    public enum Item: String, Hashable, Sendable, CaseIterable {
        /// The template that holds the other items.
        case template = "FF20"
        /// 氏名.
        case name = "DF22"
        /// 住所.
        case address = "DF23"
        /// 生年月日.
        case birthDate = "DF24"
        /// 性別.
        case sex = "DF25"
    }

    /// Parses the items of the file, or returns `nil` when it does not begin with FF20.
    init?(_ bytes: [UInt8]) {
        let list = BERTLVList(tolerant: bytes)
        guard let template = list[0xFF20] else { return nil }
        let inner = BERTLVList(tolerant: template.value)
        var unreadable: [Item] = list.fault == nil && inner.fault == nil ? [] : [.template]
        func text(_ item: Item, _ tag: BERTag) -> String? {
            guard let object = inner[tag], let text = String(validating: object.value, as: UTF8.self), !text.isEmpty
            else {
                unreadable.append(item)
                return nil
            }
            return text
        }
        name = text(.name, 0xDF22)
        address = text(.address, 0xDF23)
        let birth = text(.birthDate, 0xDF24)
        birthDate = birth.flatMap { CalendarDate(digits: $0.utf8) }
        if birth != nil, birthDate == nil { unreadable.append(.birthDate) }
        sex = text(.sex, 0xDF25)
        self.unreadable = unreadable
    }
}

/// The kind of card according to the token information of JPKI; the raw values are the texts on the card.
///
/// Source: jpki/myna.
@nonexhaustive
public enum MyNumberToken: String, Hashable, Sendable, CaseIterable {
    /// マイナンバーカード.
    case myNumberCard = "JPKIAPICCTOKEN2"
    /// 住民基本台帳カード, issued until 2015.
    case residentCard = "JPKIAPICCTOKEN"
    /// A smartphone that holds the certificates.
    case smartphone = "JPKIAPGPSETOKEN"

    /// The display name.
    public var name: LocalizedText {
        switch self {
        case .myNumberCard: LocalizedText("My Number card", "マイナンバーカード")
        case .residentCard: LocalizedText("Basic Resident Register card", "住民基本台帳カード")
        case .smartphone: LocalizedText("Smartphone", "スマートフォン")
        }
    }
}
