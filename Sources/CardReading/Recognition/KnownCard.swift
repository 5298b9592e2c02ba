// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// A kind of card of type A or B and what tells it; the facts are rows of `Data/known-cards.tsv`.
public struct KnownCard: Hashable, Sendable {
    /// Which answer of the card tells it.
    public enum Clue: String, Hashable, Sendable {
        /// ATQA and SAK, three bytes.
        case atqaSAK
        /// The SAK, one byte.
        case sak
        /// The whole ATS.
        case ats
        /// An application that SELECT finds.
        case application
        /// An application that a payment card lists, or the beginning of its AID.
        case scheme
    }

    /// What a clue proves.
    public enum Certainty: String, Hashable, Sendable {
        /// It is such a card.
        case certain
        /// Nearly every card with this clue is such a card.
        case likely
        /// Other kinds of card have the same clue.
        case possible
    }

    /// The word for it in documents.
    public let id: String
    /// Which answer tells it.
    public let clue: Clue
    /// The bytes of that answer.
    public let value: [UInt8]
    /// What the clue proves.
    public let certainty: Certainty
    /// Its name.
    public let name: LocalizedText

    init(_ row: FactRow) throws(TableFault) {
        id = try row.required("id")
        guard let clue: Clue = try row.word("clue") else { throw row.fault("clue", .empty) }
        guard let certainty: Certainty = try row.word("certainty") else { throw row.fault("certainty", .empty) }
        guard let name = try row.name() else { throw row.fault("english", .empty) }
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
    public static var all: [KnownCard] { table.rows }

    /// What is wrong in the table; a release has no faults.
    public static var faults: [TableFault] { table.faults }

    /// The kinds with this clue.
    static func all(by clue: Clue) -> [KnownCard] { all.filter { $0.clue == clue } }

    /// The kind that a clue tells, or `nil`.
    static func of(_ clue: Clue, _ value: [UInt8]) -> KnownCard? {
        all.first { $0.clue == clue && $0.value == value }
    }
}
