// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// The tables in `Data`, one row a fact; each is read when it is first asked for.
///
/// What a row says, and where the facts of a table come from, stands on top of its file.
public enum DecoderTables {
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
    ) { (row) throws(TableFault) in
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
    public static var faults: [String: [TableFault]] {
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
