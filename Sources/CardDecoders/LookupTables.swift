// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// The names of the values of one byte, from a table with the columns `code`, `english`, `japanese` and `doubt`.
///
/// There is a value for each of the 256 codes, made once: a record of a history takes its values from here.
struct CodeNames: Sendable {
    /// What is wrong in the table.
    let faults: [FactTableError]
    private let values: [CodedValue]

    /// Names from a table.
    init(_ bytes: [UInt8]) {
        let table = FactTable(bytes, columns: ["code", "english", "japanese", "doubt"], key: ["code"]) {
            (row) throws(FactTableError) in
            (code: try row.hex("code") as UInt8, name: try row.name(), doubt: try row.word("doubt", Doubt.self))
        }
        self.init(table.rows.map { ($0.code, $0.name, $0.doubt) }, ignoring: 0, faults: table.faults)
    }

    /// Names of codes.
    ///
    /// - Parameter flags: bits without which a code is looked up when it has no name of its own.
    init(
        _ rows: [(code: UInt8, name: LocalizedText?, doubt: Doubt?)], ignoring flags: UInt8, faults: [FactTableError]
    ) {
        var named = [(name: LocalizedText, doubt: Doubt?)?](repeating: nil, count: 256)
        for (code, name, doubt) in rows { named[Int(code)] = name.map { ($0, doubt) } }
        values = (UInt8.min...UInt8.max).map { code in
            let known = named[Int(code)] ?? named[Int(code & ~flags)]
            return CodedValue(code: code, name: known?.name, doubt: known?.doubt)
        }
        self.faults = faults
    }

    /// The code with its name.
    subscript(code: UInt8) -> CodedValue { values[Int(code)] }
}

/// The tables in `Data`, one row a fact; each is read when it is first asked for.
///
/// What a row says, and where the facts of a table come from, stands on top of its file.
package enum DecoderTables {
    static let transitPayments = CodeNames(PackageResources.transit_payments_tsv)
    static let transitGates = CodeNames(PackageResources.transit_gates_tsv)
    static let transitGateEvents = CodeNames(PackageResources.transit_gate_events_tsv)
    static let transitTerminals = CyberneticsTerminalTable(PackageResources.transit_terminals_tsv)
    static let transitProcesses = CyberneticsProcessTable(PackageResources.transit_processes_tsv)
    static let transitBrands = FactTable(
        PackageResources.transit_brands_tsv, columns: ["brand", "services", "english", "japanese"], key: ["services"],
        row: TransitBrandRow.init(_:))
    static let purseKinds = PurseKindTable(PackageResources.purse_kinds_tsv)
    static let busOperators = BusOperatorTable(PackageResources.bus_operators_tsv)
    static let liteIssuers = LiteIssuerTable(PackageResources.lite_issuers_tsv)
    static let localStops = LocalStopTable(PackageResources.local_stops_tsv)
    static let localCodes = LocalCodeTable(PackageResources.local_codes_tsv)
    static let licenseItems = LicenseItemTable(PackageResources.license_items_tsv)
    static let licenseConditions = LicenseConditionTable(PackageResources.license_conditions_tsv)
    static let ownersStationTable = FactTable(
        PackageResources.owners_stations_tsv, columns: ["area", "line", "station", "company", "name"],
        key: ["area", "line", "station"]
    ) { (row) throws(FactTableError) in
        (
            key: StationRow.key(
                area: try row.hex("area"), line: try row.hex("line"), station: try row.hex("station")),
            name: StationName(company: try row.text("company"), line: nil, name: try row.required("name"))
        )
    }
    /// Stations that no public table has, by area, line and station.
    static let ownersStations = Dictionary(ownersStationTable.rows.map { ($0.key, $0.name) }) { first, _ in first }
    static let namedCards = NamedCardTable(PackageResources.named_cards_tsv)

    /// What is wrong in the tables, by the name of the file; a release has no faults.
    package static var faults: [String: [FactTableError]] {
        [
            "transit-payments.tsv": transitPayments.faults,
            "transit-gates.tsv": transitGates.faults,
            "transit-gate-events.tsv": transitGateEvents.faults,
            "transit-terminals.tsv": transitTerminals.faults,
            "transit-processes.tsv": transitProcesses.faults,
            "transit-brands.tsv": transitBrands.faults,
            "purse-kinds.tsv": purseKinds.faults,
            "bus-operators.tsv": busOperators.faults,
            "lite-issuers.tsv": liteIssuers.faults,
            "local-stops.tsv": localStops.faults,
            "local-codes.tsv": localCodes.faults,
            "license-items.tsv": licenseItems.faults,
            "license-conditions.tsv": licenseConditions.faults,
            "owners-stations.tsv": ownersStationTable.faults,
            "named-cards.tsv": namedCards.faults,
        ]
    }
}

/// Bus companies by system and 16-bit operator code; the facts are rows of `Data/bus-operators.tsv`.
struct BusOperatorTable: Sendable {
    /// What is wrong in the table.
    let faults: [FactTableError]
    private let names: [Key: LocalizedText]

    private struct Key: Hashable {
        let system: SystemCode
        let code: UInt16
    }

    init(_ bytes: [UInt8]) {
        let table = FactTable(
            bytes, columns: ["system", "operator", "english", "japanese"], key: ["system", "operator"]
        ) { (row) throws(FactTableError) -> (key: Key, name: LocalizedText) in
            guard let name = try row.name() else { throw row.fault("english", .empty) }
            return (Key(system: SystemCode(rawValue: try row.hex("system")), code: try row.hex("operator")), name)
        }
        names = Dictionary(table.rows.map { ($0.key, $0.name) }) { first, _ in first }
        faults = table.faults
    }

    /// The company that has a code in a system, or `nil`.
    func name(_ code: UInt16, in system: SystemCode) -> LocalizedText? { names[Key(system: system, code: code)] }
}

/// What the codes of cards with a format of their own stand for; the facts are rows of `Data/local-codes.tsv`.
struct LocalCodeTable: Sendable {
    /// What is wrong in the table.
    let faults: [FactTableError]
    private let codes: [String: [UInt32: Code]]

    /// What a code is part of.
    enum Field: String, Sendable {
        /// The machine.
        case terminal
        /// What it did.
        case process
    }

    /// What a code stands for.
    struct Code: Sendable {
        /// Its name.
        let name: LocalizedText
        /// What a record with it tells of, or `nil` where the code does not settle it.
        let kind: RecordKind?
    }

    init(_ bytes: [UInt8]) {
        let table = FactTable(
            bytes, columns: ["card", "field", "code", "kind", "english", "japanese"], key: ["card", "field", "code"]
        ) { (row) throws(FactTableError) -> (place: String, number: UInt32, code: Code) in
            guard let name = try row.name() else { throw row.fault("english", .empty) }
            guard let field = try row.word("field", Field.self) else { throw row.fault("field", .empty) }
            let code = Code(name: name, kind: try row.word("kind", RecordKind.self))
            return (LocalCodeTable.place(try row.required("card"), field), try row.hex("code"), code)
        }
        var codes: [String: [UInt32: Code]] = [:]
        for row in table.rows { codes[row.place, default: [:]][row.number] = row.code }
        self.codes = codes
        faults = table.faults
    }

    /// What is known of the codes of a card, by code.
    subscript(card: String, field: Field) -> [UInt32: Code] { codes[LocalCodeTable.place(card, field)] ?? [:] }

    private static func place(_ card: String, _ field: Field) -> String { "\(card) \(field.rawValue)" }
}

/// Stations and stops of cards with a network of their own; the facts are rows of `Data/local-stops.tsv`.
struct LocalStopTable: Sendable {
    /// What is wrong in the table.
    let faults: [FactTableError]
    private let names: [Key: StationName]

    private struct Key: Hashable {
        let system: SystemCode
        let stop: UInt32
    }

    init(_ bytes: [UInt8]) {
        let table = FactTable(
            bytes, columns: ["system", "stop", "company", "line", "name"], key: ["system", "stop"]
        ) { (row) throws(FactTableError) -> (key: Key, name: StationName) in
            let name = StationName(
                company: try row.text("company"), line: try row.text("line"), name: try row.required("name"))
            return (Key(system: SystemCode(rawValue: try row.hex("system")), stop: try row.hex("stop")), name)
        }
        names = Dictionary(table.rows.map { ($0.key, $0.name) }) { first, _ in first }
        faults = table.faults
    }

    /// The stop, or of a stop that is not in the table its operator; `nil` when neither is known.
    func name(_ code: LocalStopCode) -> StationName? {
        if let name = names[Key(system: code.system, stop: code.stop)] { return name }
        let company = code.operatorCode.flatMap { DecoderTables.busOperators.name($0, in: code.system) }
        return company.map { StationName(company: $0.japanese, line: nil, name: nil) }
    }

    /// The place with this code, named where it is known.
    func place(_ code: LocalStopCode) -> Place {
        Place(code: .local(code), name: name(code))
    }
}

/// One kind of record of an e-money card.
struct PurseKind: Hashable, Sendable {
    /// The byte on the card with its name.
    let value: CodedValue
    /// What the report calls it.
    let recordKind: RecordKind
    /// Whether the amount was put on or taken off; `nil` when no source says.
    let sign: Sign?

    /// A direction of money.
    enum Sign: String, Sendable {
        /// Put on the card.
        case plus = "+"
        /// Taken off the card.
        case minus = "-"
    }

    init(_ row: FactRow) throws(FactTableError) {
        guard let name = try row.name() else { throw row.fault("english", .empty) }
        guard let kind = try row.word("kind", RecordKind.self) else { throw row.fault("kind", .empty) }
        value = CodedValue(code: try row.hex("code"), name: name)
        recordKind = kind
        sign = try row.word("sign")
    }

    /// An amount with the sign of this kind, or `nil` when it has none.
    func signed(_ amount: Int) -> Int? {
        sign.map { $0 == .plus ? amount : -amount }
    }
}

/// What the kind bytes of e-money records mean; the facts are rows of `Data/purse-kinds.tsv`.
struct PurseKindTable: Sendable {
    /// What is wrong in the table.
    let faults: [FactTableError]
    private let kinds: [String: [UInt8: PurseKind]]

    init(_ bytes: [UInt8]) {
        let table = FactTable(
            bytes, columns: ["card", "code", "kind", "sign", "english", "japanese"], key: ["card", "code"]
        ) { (row) throws(FactTableError) in
            (card: try row.required("card"), kind: try PurseKind(row))
        }
        var kinds: [String: [UInt8: PurseKind]] = [:]
        for (card, kind) in table.rows { kinds[card, default: [:]][kind.value.code] = kind }
        self.kinds = kinds
        faults = table.faults
    }

    /// What is known of the kinds of a decoder's card, by code.
    subscript(card: String) -> [UInt8: PurseKind] { kinds[card] ?? [:] }
}
