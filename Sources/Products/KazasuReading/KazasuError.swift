// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
public import CardModel
public import CardReading
internal import FeliCa
public import ISO7816
internal import ByteCodec
public import NFCForumTags
public import ReaderCore

/// An error of a reader, a card or a decoder.
@nonexhaustive
public enum KazasuError: Error, Hashable, Sendable {
    /// No connected reader can be used; each listing gives the reason.
    case noReader([ReaderListing])
    /// No driver knows this ID.
    case unknownReader(String)
    /// The reader cannot be opened, or failed.
    case reader(TransportError, id: String)
    /// The file of a `virtual:` or `replay:` reader cannot be read.
    case unreadableFile(String, errno: Int32)
    /// The file of a `virtual:` or `replay:` reader is not a card or a recording.
    case badFile(String, DocumentError)
    /// The system has no pseudo-terminal or no thread for a simulated reader.
    case noSimulatedReader(errno: Int32)
    /// The link to a simulated reader cannot be made at this path.
    case cannotLink(String, errno: Int32)
    /// No card arrived in time, and nothing at all was heard.
    case noCard
    /// Something answered, but no card could be selected in time.
    case heard(Heard)
    /// Several cards lie on the reader; the names of those that are known, `nil` for others.
    case severalCards([LocalizedText?])
    /// A card is on the reader, but not of the requested kind.
    case wrongCard(WrongCard)
    /// Reading ended early: the card left, its answers were damaged, or the reader failed.
    case reading(ReadingError)
    /// The card refused to let a service be read.
    case refused(ServiceCode, RefusalReason)
    /// The bytes were read, but do not contain the requested data.
    case decoding(CardDecodingError)
    /// Reading a license or a My Number card ended early, or a PIN was not accepted.
    case fileCard(FileCardReadingError)
    /// An exchange of APDUs failed.
    case apdu(ISO7816Error)
    /// A tag could not be read or written.
    case tag(TagError)
    /// A FeliCa Lite or Lite-S was not authenticated, read or issued.
    case lite(LiteError)
    /// A MIFARE Classic was not read or written.
    case classic(ClassicError)
    /// A MIFARE DESFire was not read or written.
    case desfire(DESFireError)
    /// Keys did not open a service of a FeliCa Standard.
    case standard(StandardKeyError)
    /// Blocks of a FeliCa Standard were not written, or not surely.
    case blockWrite(BlockWriteError)
    /// Keys of a FeliCa Standard were not changed, or not all of them.
    case keyChange(KeyChangeError)
    /// An NTAG 424 DNA was not set up, or not whole.
    case provision(TagProvisionError)
    /// A DESFire was not set up, or not whole. Each of its keys is the old or the new one.
    case provisionDESFire(DESFireProvisionError)
    /// The work was cancelled.
    case cancelled
}

/// A card that is on the reader but cannot be used for the request.
public struct WrongCard: Hashable, Sendable {
    /// The card.
    public let card: PICC
    /// The names of what it was recognized as, most specific first; empty if only its technology is known.
    public let names: [LocalizedText]
    /// The ids of what it was recognized as, such as `licence`, in the order of ``names``; empty for FeliCa.
    package let kinds: [String]
    /// The reason why it cannot be used.
    public let reason: Reason

    /// Makes a card that cannot be used, with what it was recognized as; by default what its first answers say.
    package init(_ card: PICC, names: [LocalizedText] = [], kinds: [String] = [], _ reason: Reason) {
        self.card = card
        let known = names.isEmpty && kinds.isEmpty ? CardRecognizer.recognize(card)?.kind : nil
        self.names = known.map { [$0.name] } ?? names
        self.kinds = known.map { [$0.id] } ?? kinds
        self.reason = reason
    }

    /// Whether it appears to be the same card: its UID may differ at each activation.
    func isLike(_ other: WrongCard) -> Bool {
        card.technology == other.card.technology && names == other.names && reason == other.reason
    }

    /// The reasons why a card cannot be used.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// It is not of the wanted kind.
        case kind(wanted: CardQuery.Kind)
        /// It is a FeliCa card without any of these systems.
        case noSystem([SystemCode])
        /// It does not accept APDUs.
        case noISODEP
        /// It has the system of one of these kinds of card, but none of their services.
        case noService(SystemCode?, kinds: [CardKind])
        /// It is not the card of the dump to resume.
        case otherThanDump
    }
}

extension KazasuError {
    /// Converts to an error of this layer; a cancellation stays a cancellation.
    package init(_ error: ReadingError) {
        self = error == .cancelled ? .cancelled : .reading(error)
    }

    /// The failure of a reader.
    package init(_ error: TransportError, of reader: String) {
        self = error == .cancelled ? .cancelled : .reader(error, id: reader)
    }
}

extension KazasuError: SelfDescribing {
    /// What failed, with the cause.
    public var message: LocalizedText {
        switch self {
        case .noReader(let listings): return KazasuError.reason(listings)
        case .unknownReader(let id):
            return LocalizedText("unknown reader ID '\(id)'", "リーダー ID '\(id)' はありません")
        case .reader(let error, _): return error.message
        case .unreadableFile(let path, let number):
            let reason = SystemMessage.of(number)
            return LocalizedText("\(path) cannot be read: \(reason.english)", "\(path) を読めません: \(reason.japanese)")
        case .badFile(let path, let error):
            return LocalizedText("\(path): \(error.message.english)", "\(path): \(error.message.japanese)")
        case .noSimulatedReader(let number):
            let reason = SystemMessage.of(number)
            return LocalizedText(
                "the simulated reader cannot be created: \(reason.english)", "仮想リーダーを作れません: \(reason.japanese)")
        case .cannotLink(let path, let number):
            let reason =
                number == ErrorNumber.exists ? LocalizedText("it already exists", "すでにあります") : SystemMessage.of(number)
            return LocalizedText(
                "the simulated reader cannot be linked at \(path): \(reason.english)",
                "\(path) に仮想リーダーのリンクを作れません: \(reason.japanese)")
        case .noCard: return LocalizedText("no card came in time", "時間内にカードが置かれませんでした")
        case .heard(let heard): return heard.message
        case .severalCards(let names): return KazasuError.several(names)
        case .wrongCard(let card): return card.message
        case .reading(let error): return error.message
        case .refused(let service, let refusal):
            return refusal.message(LocalizedText("service \(service)", "サービス \(service)"))
        case .decoding(let error): return error.message
        case .fileCard(let error): return error.message
        case .apdu(let error): return error.message
        case .tag(let error): return error.message
        case .lite(let error): return error.message
        case .classic(let error): return error.message
        case .desfire(let error): return error.message
        case .standard(let error): return error.message
        case .blockWrite(let error): return error.message
        case .keyChange(let error): return error.message
        case .provision(let error): return error.message
        case .provisionDESFire(let error): return error.message
        case .cancelled: return TransportError.cancelled.message
        }
    }

    private static func several(_ cards: [LocalizedText?]) -> LocalizedText {
        let names = cards.compactMap { $0 }
        let list = LocalizedText(
            names.isEmpty ? "" : " (\(names.map(\.english).joined(separator: ", ")))",
            names.isEmpty ? "" : "（\(names.map(\.japanese).joined(separator: "、"))）")
        return LocalizedText(
            "\(cards.count) cards are on the reader\(list.english)", "リーダーに \(cards.count) 枚のカードがあります\(list.japanese)")
    }

    /// Whether a search found no card that can be used, whatever was heard.
    package var foundNoCard: Bool {
        switch self {
        case .noCard, .heard, .severalCards: true
        default: false
        }
    }

    /// Why none of the readers can be used: the first that is connected gives the reason.
    private static func reason(_ listings: [ReaderListing]) -> LocalizedText {
        for listing in listings {
            if case .unavailable(let reason, let detail) = listing.state {
                return TransportError.readerUnavailable(reason: reason, detail: detail.of(listing.id)).message
            }
        }
        // A serial port is listed, but not tried unless it is named.
        guard listings.isEmpty else { return LocalizedText("no reader was detected", "自動で見つかるリーダーがありません") }
        return TransportError.Reason(.noneConnected).message
    }
}

extension WrongCard: SelfDescribing {
    /// What the card is, and what was expected.
    public var message: LocalizedText {
        switch reason {
        case .kind where isWithoutLicense:
            return LocalizedText(
                "this My Number card holds no driver's license", "このマイナンバーカードには免許情報が記録されていません")
        case .kind(wanted: .any):
            return LocalizedText(
                "nothing on this card (\(name.english)) can be read without a key",
                "このカード（\(name.japanese)）には、鍵なしで読めるものがありません")
        case .kind(let wanted):
            return LocalizedText(
                "wrong kind of card (\(name.english)): expected \(wanted.message.english)",
                "このカード（\(name.japanese)）は対象外です（対象: \(wanted.message.japanese)）")
        case .otherThanDump: return LocalizedText("this is not the card of the dump", "ダンプのカードではありません")
        case .noISODEP:
            return LocalizedText(
                "wrong kind of card: it does not accept APDUs (no ISO-DEP)", "このカードは APDU を受け付けません（ISO-DEP 非対応）")
        case .noSystem(let codes):
            guard !codes.isEmpty else { return notSupported }
            let codes = codes.map(\.description).joined(separator: ", ")
            return LocalizedText(
                "wrong kind of card (\(name.english)): it does not have system \(codes)",
                "このカード（\(name.japanese)）にはシステム \(codes) がありません")
        case .noService(_, let kinds):
            guard kinds.count <= 3 else { return notSupported }
            let names = kinds.compactMap { DecoderRegistry.standard.decoder(of: $0)?.name }
            return LocalizedText(
                "wrong kind of card (\(name.english)): it is not \(names.map(\.english).joined(separator: ", "))",
                "このカード（\(name.japanese)）は \(names.map(\.japanese).joined(separator: ", ")) ではありません")
        }
    }

    private var notSupported: LocalizedText {
        LocalizedText(
            "Kazasu reads no balance from this card (\(name.english))", "このカード（\(name.japanese)）の残高は読めません")
    }

    /// Whether a driver's license was wanted of a My Number card without one.
    package var isWithoutLicense: Bool {
        reason == .kind(wanted: .license) && kinds.contains("mynumber") && !kinds.contains("mynumberLicence")
    }

    /// What the card was recognized as, else its system or technology.
    private var name: LocalizedText {
        guard names.isEmpty else {
            return LocalizedText(
                names.map(\.english).joined(separator: ", "), names.map(\.japanese).joined(separator: ", "))
        }
        switch card {
        case .felica(let target):
            var system = target.requestData.map { SystemCode(rawValue: $0) }
            if case .noService(let found, _) = reason { system = found }
            guard let system else { return LocalizedText("FeliCa", "FeliCa") }
            // What the name says in brackets is left out: this stands in brackets itself.
            let name = KnownSystem.of(system)?.name
            let (english, japanese) = (name?.english.prefix { $0 != "(" }, name?.japanese.prefix { $0 != "（" })
            return LocalizedText(
                Self.words(["\(system)", english ?? ""]), Self.words(["\(system)", japanese ?? ""]))
        case .typeA: return LocalizedText("type A", "Type A")
        case .typeB: return LocalizedText("type B", "Type B")
        }
    }

    private static func words(_ parts: [Substring]) -> String {
        parts.joined(separator: " ").split(separator: " ").joined(separator: " ")
    }
}
