// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel
package import ISO7816
package import ReaderCore

/// Identifies the kind of a type A or B card on the reader without reading its contents.
///
/// Payment cards are asked only for the list of applications: no file and no record, so no card number is ever read. No
/// command carries a PIN or counts as a try.
package struct CardRecognizer {
    private let session: ISO7816Session
    private let picc: PICC

    /// Makes a recognizer for the card that a reader has just activated.
    ///
    /// - Parameters:
    ///   - reader: the reader, which outlives the recognizer.
    ///   - picc: the card as it was activated.
    ///   - request: the request that activated it.
    package init(reader: any Reader, picc: PICC, request: ActivationRequest) {
        self.init(session: ISO7816Session(reader: reader, picc: picc, request: request), picc: picc)
    }

    package init(session: ISO7816Session, picc: PICC) {
        self.session = session
        self.picc = picc
    }

    /// Identifies a card by its answers when it was selected; nothing is sent to it.
    ///
    /// - Returns: at most one kind. FeliCa and type B cards are not identified here; the answers of type B are not
    ///   specific.
    package static func recognize(_ picc: PICC) -> RecognizedCard? {
        guard case .typeA(let target) = picc, let sak = target.sak else { return nil }
        if sak & 0x20 != 0, let ats = target.ats, let kind = KnownCard.of(.ats, ats) { return RecognizedCard(kind) }
        let atqa = target.atqa.map { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0), sak] }
        return (atqa.flatMap { KnownCard.of(.atqaSAK, $0) } ?? KnownCard.of(.sak, [sak])).map { RecognizedCard($0) }
    }

    /// Identifies a card by its applications.
    ///
    /// Each known one is tried with SELECT, and a card that may be a DESFire is asked for its version.
    ///
    /// - Returns: everything that was found, in the order of the table; empty for a card that does not accept APDUs.
    /// - Throws: ``ISO7816Error`` if the card left or the reader failed.
    package func applications() throws(ISO7816Error) -> [RecognizedCard] {
        guard picc.isISODEP else { return [] }
        var found: [RecognizedCard] = []
        for kind in KnownCard.all(by: .application) where !found.contains(where: { $0.kind.id == kind.id }) {
            if let card = try look(for: kind) { found.append(card) }
        }
        if let version = try desfireVersion() { found.append(version) }
        return found
    }

    private func look(for kind: KnownCard) throws(ISO7816Error) -> RecognizedCard? {
        guard let aid = AID(kind.value) else { return nil }
        // Requests an answer only if it is used: some cards refuse SELECT without an answer, others with one.
        let needsAnswer = kind.id == "emv" || kind.id == "fido"
        let command = CommandAPDU.select(.application(aid), answer: needsAnswer ? .fileControlInformation : .nothing)
        var response = try transmit(command)
        if !needsAnswer, response?.status == 0x6A86 {
            response = try transmit(.select(.application(aid), answer: .fileControlInformation))
        }
        // 6283: it exists, but is locked.
        guard let response, response.status.isSuccess || response.status == .fileDeactivated else { return nil }
        switch kind.id {
        case "emv": return RecognizedCard(kind, details: PaymentDirectory.details(response.data))
        case "fido": return RecognizedCard(kind, details: fidoVersion(response.data))
        default: return RecognizedCard(kind)
        }
    }

    /// Returns the version in a FIDO application's answer: `U2F_V2` or `FIDO_2_0`.
    private func fidoVersion(_ data: [UInt8]) -> [RecognizedCard.Detail] {
        guard (1...16).contains(data.count), data.allSatisfy({ (0x20...0x7E).contains($0) }) else { return [] }
        return [.init("version", LocalizedText("Version", "バージョン"), String(decoding: data, as: UTF8.self))]
    }

    private func desfireVersion() throws(ISO7816Error) -> RecognizedCard? {
        guard let kind = KnownCard.all.first(where: { $0.id == "desfire" }), case .typeA = picc else { return nil }
        var answer: [UInt8] = []
        for (number, command) in DESFireVersion.commands.enumerated() {
            guard let response = try transmit(command) else { return nil }
            answer += response.data
            if response.status == DESFireVersion.done { break }
            guard response.status == DESFireVersion.more, number < 2 else { return nil }
        }
        return DESFireVersion(answer).map { RecognizedCard(kind, details: $0.details) }
    }

    /// Sends a command; a card that does not answer a command unknown to it, as some do, is selected again.
    private func transmit(_ command: CommandAPDU) throws(ISO7816Error) -> ResponseAPDU? {
        do {
            return try session.transmit(command)
        } catch {
            switch error {
            case .transport(.noAnswer), .malformed:
                try session.reselect()
                return nil
            default: throw error
            }
        }
    }
}

/// One identification of a card; a card may have several, such as a phone with many applications.
public struct RecognizedCard: Hashable, Sendable {
    /// The kind of card, with the clue that identified it.
    public var kind: KnownCard
    /// Other information reported by the card, verbatim: labels, schemes, versions. Never a number of its owner.
    public var details: [Detail]

    /// One detail that a card reported.
    public struct Detail: Hashable, Sendable {
        /// The identifier in documents.
        public var key: String
        /// The display name.
        public var title: LocalizedText
        /// The value that the card reported.
        public var value: String

        init(_ key: String, _ title: LocalizedText, _ value: String) {
            self.key = key
            self.title = title
            self.value = value
        }
    }

    init(_ kind: KnownCard, details: [Detail] = []) {
        self.kind = kind
        self.details = details
    }
}

/// A kind of type A or B card and how it is identified; the facts are rows of `Data/known-cards.tsv`.
public struct KnownCard: Hashable, Sendable {
    /// The answer of the card that identifies it.
    package enum Clue: String, Hashable, Sendable {
        /// ATQA and SAK, three bytes.
        case atqaSAK
        /// The SAK, one byte.
        case sak
        /// The complete ATS.
        case ats
        /// An application that SELECT finds.
        case application
        /// An application that a payment card lists, or a prefix of its AID.
        case scheme
    }

    /// How conclusive a clue is.
    @nonexhaustive
    public enum Certainty: String, Hashable, Sendable {
        /// It is such a card.
        case certain
        /// Nearly every card with this clue is such a card.
        case likely
        /// Other kinds of card share this clue.
        case possible
    }

    /// The identifier in documents.
    public let id: String
    /// The answer that identifies it.
    package let clue: Clue
    /// The bytes of that answer.
    package let value: [UInt8]
    /// How conclusive the clue is.
    public let certainty: Certainty
    /// Its name.
    public let name: LocalizedText

    init(_ row: FactRow) throws(FactTableError) {
        id = try row.required("id")
        guard let clue: Clue = try row.word("clue") else { throw row.fault("clue", .empty) }
        guard let certainty: Certainty = try row.word("certainty") else { throw row.fault("certainty", .empty) }
        let name = try row.requiredName()
        guard let value = try? Hex.decode(try row.required("value")), !value.isEmpty else {
            throw row.fault("value", .notANumber)
        }
        self.clue = clue
        self.certainty = certainty
        self.name = name
        self.value = value
    }

    static let table = FactTable(
        PackageResources.known_cards_tsv, columns: ["id", "clue", "value", "certainty", "english", "japanese"],
        key: ["clue", "value"], row: KnownCard.init(_:))

    /// Every known kind, in the order of the table.
    package static var all: [KnownCard] { table.rows }

    /// The faults of the table; a release has none.
    package static var faults: [FactTableError] { table.faults }

    /// Returns the kinds with this clue.
    static func all(by clue: Clue) -> [KnownCard] { all.filter { $0.clue == clue } }

    /// Returns the kind that a clue identifies, or `nil`.
    static func of(_ clue: Clue, _ value: [UInt8]) -> KnownCard? {
        all.first { $0.clue == clue && $0.value == value }
    }
}
