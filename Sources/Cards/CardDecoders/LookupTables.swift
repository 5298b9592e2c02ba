// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// The meanings of a one-byte code, from a table file.
///
/// The columns are `code`, `english`, `japanese`, `doubt`, and for records of transit cards `class` and `kind`. There
/// is a value for each of the 256 codes, created once: history records take their values from here.
struct CodeTable: Sendable {
    let faults: [FactTableError]
    private let values: [CodedValue]
    /// The record class for each code; `nil` where the code does not determine it.
    let classes: [CyberneticsRecordClass?]
    /// The record kind for each code; `nil` where the class alone determines it.
    let kinds: [RecordKind?]

    /// Parses a table.
    ///
    /// - Parameters:
    ///   - special: the columns between code and name.
    ///   - flags: bits that only affect the name; a code without its own name is looked up with these bits cleared.
    init(_ bytes: [UInt8], special: [String] = [], ignoring flags: UInt8 = 0) {
        let columns = ["code"] + special + ["english", "japanese", "doubt"]
        let table = FactTable(bytes, columns: columns, key: ["code"]) { (row) throws(FactTableError) in
            (
                code: try row.hex("code") as UInt8, name: try row.name(), doubt: try row.word("doubt", Doubt.self),
                class: special.contains("class") ? try row.word("class", CyberneticsRecordClass.self) : nil,
                kind: special.contains("kind") ? try row.word("kind", RecordKind.self) : nil
            )
        }
        let rows = Dictionary(table.rows.map { ($0.code, $0) }) { first, _ in first }
        let codes = UInt8.min...UInt8.max
        values = codes.map { code in
            let row = rows[code].flatMap { $0.name == nil ? nil : $0 } ?? rows[code & ~flags]
            return CodedValue(code: code, name: row?.name, doubt: row?.name == nil ? nil : row?.doubt)
        }
        classes = codes.map { rows[$0 & ~flags]?.class }
        kinds = codes.map { rows[$0 & ~flags]?.kind }
        faults = table.faults
    }

    /// The code with its name.
    subscript(code: UInt8) -> CodedValue { values[Int(code)] }
}

/// The tables in `Data`, one fact per row; each is parsed on first use.
///
/// The columns of a table and the sources of its facts are documented at the top of its file.
package enum DecoderTables {
    static let transitPayments = CodeTable(PackageResources.transit_payments_tsv)
    static let transitGates = CodeTable(PackageResources.transit_gates_tsv)
    static let transitGateEvents = CodeTable(PackageResources.transit_gate_events_tsv)
    static let transitTerminals = CodeTable(PackageResources.transit_terminals_tsv, special: ["class"])
    /// Bit 7 of a process: combined with another one, or another company's.
    static let transitProcesses = CodeTable(
        PackageResources.transit_processes_tsv, special: ["class", "kind"], ignoring: 0x80)
    static let transitBrands = FactTable(
        PackageResources.transit_brands_tsv, columns: ["brand", "services", "areas", "english", "japanese"],
        key: ["services", "areas"],
        row: TransitBrandRow.init(_:))
    /// The meanings of the kind bytes in e-money records, by the decoder's card and by code.
    static let purseKinds = LookupTable<String, [UInt8: PurseKind]>(
        PackageResources.purse_kinds_tsv, columns: ["card", "code", "kind", "sign", "english", "japanese"],
        key: ["card", "code"],
        groups: { (row) throws(FactTableError) in
            let kind = try PurseKind(row)
            return (group: try row.required("card"), code: kind.value.code, fact: kind)
        })
    /// Bus companies by system and 16-bit operator code.
    static let busOperators = LookupTable<CodeInSystem, LocalizedText>(
        PackageResources.bus_operators_tsv, columns: ["system", "operator", "english", "japanese"],
        key: ["system", "operator"]
    ) { (row) throws(FactTableError) in
        (key: try CodeInSystem(row, "operator"), value: try row.requiredName())
    }
    /// The issuers of FeliCa Lite cards, by data format code.
    static let liteIssuers = LookupTable<UInt16, LocalizedText>(
        PackageResources.lite_issuers_tsv, columns: ["dfc", "english", "japanese"], key: ["dfc"]
    ) { (row) throws(FactTableError) in
        (key: try row.hex("dfc"), value: try row.requiredName())
    }
    /// Stations and stops of cards with their own network.
    static let localStops = LookupTable<CodeInSystem, StationName>(
        PackageResources.local_stops_tsv, columns: ["system", "stop", "company", "line", "name"],
        key: ["system", "stop"]
    ) { (row) throws(FactTableError) in
        let (company, line, name) = (try row.text("company"), try row.text("line"), try row.required("name"))
        func latin(_ text: String?) -> String? { text.flatMap { $0.utf8.allSatisfy { $0 < 0x80 } ? $0 : nil } }
        return (
            key: try CodeInSystem(row, "stop"),
            value: StationName(
                company: company, line: line, name: name,
                latin: .init(company: latin(company), line: latin(line), name: latin(name)))
        )
    }
    /// The meanings of codes on cards with their own format, by `card field` and by code.
    static let localCodes = LookupTable<String, [UInt32: LocalCode]>(
        PackageResources.local_codes_tsv, columns: ["card", "field", "code", "kind", "english", "japanese"],
        key: ["card", "field", "code"],
        groups: { (row) throws(FactTableError) in
            let field = try row.requiredWord("field", LocalCode.Field.self)
            let code = LocalCode(name: try row.requiredName(), kind: try row.word("kind", RecordKind.self))
            return (group: LocalCode.group(try row.required("card"), field), code: try row.hex("code"), fact: code)
        })
    static let licenseItems = LicenseItemTable(PackageResources.license_items_tsv)
    /// The meanings of license conditions, by their text without spaces.
    static let licenseConditions = LookupTable<String, LocalizedText>(
        PackageResources.license_conditions_tsv, columns: ["japanese", "english"], key: ["japanese"]
    ) { (row) throws(FactTableError) in
        let name = try row.requiredName()
        return (key: name.japanese, value: name)
    }
    /// Cards that are only recognized.
    static let namedCards = FactTable(
        PackageResources.named_cards_tsv, columns: ["id", "system", "services", "english", "japanese"], key: ["id"],
        row: NamedCardDecoder.init(_:))
    /// Which of the cards that share one of those rows it is.
    static let namedCardBrands = FactTable(
        PackageResources.named_card_brands_tsv, columns: ["card", "prefix", "brand", "english", "japanese"],
        key: ["card", "prefix"], row: NamedCardBrand.init(_:))

    /// The errors in the tables, by file name; a release has none.
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
            "named-cards.tsv": namedCards.faults,
            "named-card-brands.tsv": namedCardBrands.faults,
        ]
    }
}

/// A code that is only meaningful within one system.
struct CodeInSystem: Hashable, Sendable {
    let system: SystemCode
    let code: UInt32

    init(_ system: SystemCode, _ code: UInt32) {
        self.system = system
        self.code = code
    }

    fileprivate init(_ row: FactRow, _ column: String) throws(FactTableError) {
        self.init(SystemCode(rawValue: try row.hex("system")), try row.hex(column))
    }
}

/// The meaning of a code on a card with its own format.
struct LocalCode: Sendable {
    let name: LocalizedText
    /// The kind of a record with this code, or `nil` where the code does not determine it.
    let kind: RecordKind?

    /// The field that a code belongs to.
    enum Field: String, Sendable {
        case terminal
        /// Its operation.
        case process
    }

    fileprivate static func group(_ card: String, _ field: Field) -> String { "\(card) \(field.rawValue)" }

    /// Returns the known codes of a card, keyed by code.
    static func all(of card: String, _ field: Field) -> [UInt32: LocalCode] {
        DecoderTables.localCodes[group(card, field)] ?? [:]
    }
}

extension Place {
    /// Creates the stop with this code, with its name if known; a stop that is in no table gets its operator's name.
    init(_ code: LocalStopCode) {
        var name = DecoderTables.localStops[CodeInSystem(code.system, code.stop)]
        if name == nil, let number = code.operatorCode {
            let company = DecoderTables.busOperators[CodeInSystem(code.system, UInt32(number))]
            name = company.map {
                StationName(company: $0.japanese, line: nil, name: nil, latin: .init(company: $0.english))
            }
        }
        self.init(code: .local(code), name: name)
    }
}

/// One kind of record of an e-money card.
struct PurseKind: Hashable, Sendable {
    /// The byte on the card with its name.
    let value: CodedValue
    /// The kind in the report.
    let recordKind: RecordKind
    /// Whether the amount was added or deducted; `nil` when no source says.
    let sign: Sign?

    /// The direction of a payment.
    enum Sign: String, Sendable {
        /// Added to the card.
        case plus = "+"
        /// Deducted from the card.
        case minus = "-"
    }

    init(_ row: FactRow) throws(FactTableError) {
        value = CodedValue(code: try row.hex("code"), name: try row.requiredName())
        recordKind = try row.requiredWord("kind")
        sign = try row.word("sign")
    }

    /// Returns an amount with the sign of this kind, or `nil` when it has no sign.
    func signed(_ amount: Int) -> Int? {
        sign.map { $0 == .plus ? amount : -amount }
    }
}
