// SPDX-License-Identifier: Apache-2.0

package import CommandDescription
import Glibc
package import Kazasu

/// Options of the commands that name stations.
package struct StationOptions: ParsableArguments {
    package init() {}

    @Option(
        reach: .local, name: .long,
        help: help(
            "A table of stations or bus stops that takes precedence, or none to show codes; repeatable.",
            "ほかより先に引く駅・バス停の表（複数指定可）。none ならコードのまま表示する。", value: "file|none"), completion: .file())
    package var stations: [String] = []

    package func validate() throws {
        if stations.count > 1, stations.contains(StationOptions.none) {
            throw ValidationError(
                tr(
                    "\(Caller.current.option("stations", "none")) cannot be used with a table",
                    "\(Caller.current.option("stations", "none")) は表と同時に指定できません"))
        }
    }

    private static let none = "none"

    /// Where a table comes from, in the order in which they are searched.
    package enum Origin: String, CaseIterable {
        case option, environment, imported
    }

    /// Where names are looked up: the tables of the options, of the environment and of the store, then those that come with Kazasu.
    package func names() throws(CommandError) -> any StationNames {
        guard showsNames else { return NoStationNames() }
        let tables = try tables()
        guard !tables.isEmpty else { return ShippedStations() }
        var layers: [any StationNames] = []
        for origin in Origin.allCases {
            let files = tables.filter { $0.origin == origin }
            guard !files.isEmpty else { continue }
            var table = StationTable()
            for file in files { table.add(file.table) }
            layers.append(table)
        }
        return LayeredStationNames(layers + [ShippedStations()])
    }

    /// Whether any table is used; an option beats the environment.
    package var showsNames: Bool {
        stations.isEmpty ? variable != StationOptions.none : stations != [StationOptions.none]
    }

    /// The user's tables, in the order in which they are searched.
    package func tables() throws(CommandError) -> [(origin: Origin, path: String, table: StationFile)] {
        var tables: [(origin: Origin, path: String, table: StationFile)] = []
        for origin in Origin.allCases {
            for path in paths(of: origin) {
                do throws(CommandError) {
                    tables.append((origin, path, try StationOptions.file(path)))
                } catch {
                    throw error.about(variable: origin == .environment ? "KAZASU_STATIONS" : nil)
                }
            }
        }
        return tables
    }

    private func paths(of origin: Origin) -> [String] {
        switch origin {
        case .option: stations
        case .environment: variable == StationOptions.none ? [] : variable.split(separator: ":").map { String($0) }
        case .imported: StationStore().paths
        }
    }

    private var variable: String { getenv("KAZASU_STATIONS").map { String(cString: $0) } ?? "" }

    /// Reads one table.
    ///
    /// - Parameter role: what the file is to the command; `nil` for a table that is about to be replaced.
    package static func file(
        _ path: String, codes: StationFile.Codes? = nil, as role: FilesInUse.Role? = .input
    ) throws(CommandError) -> StationFile {
        let bytes = try Files.read(path, limit: StationFile.longestDocument, as: role)
        do {
            return try StationFile(parsing: bytes, codes: codes)
        } catch {
            var failure = CommandError(error, path: path)
            if case .malformed(_, let expected) = error, expected.code == .stationRadix {
                failure.message = tr(
                    "\(Files.name(path)): cannot tell whether its codes are hexadecimal or decimal",
                    "\(Files.name(path)): コードが 16 進か 10 進か判断できません")
                failure.hint = Caller.current.command(
                    "stations import", .option("codes", "hex|decimal"), .shell(ShellWord.quoted(path)))
            } else if case .malformedLine(_, let expected) = error, expected.code == .stationRows {
                failure.message = tr(
                    "\(Files.name(path)) is not a table of stations", "\(Files.name(path)) は駅名の表ではありません")
                let help = Caller.current.command("stations import", "help")
                failure.hint = Remedy.stationTable.text(help)
            } else if case .malformedLine(_, let expected) = error, expected.code == .utf8 {
                failure.hint = Remedy.saveAsText.text()
            }
            throw failure
        }
    }
}

/// The directory of the user's station tables: `kazasu/` below the XDG data directory.
package struct StationStore {
    /// The folder, without a slash at the end; `nil` when there is no home directory.
    package let folder = SystemEnvironment.folder("XDG_DATA_HOME", usual: ".local/share").map { $0 + "/kazasu" }

    package init() {}

    /// The file that holds this kind of rows.
    package func path(of rows: StationRows) -> String? {
        let name =
            switch rows {
            case .stations: "stations.tsv"
            case .busStops: "bus_stops.tsv"
            case .formerNames: "former_names.tsv"
            }
        return folder.map { "\($0)/\(name)" }
    }

    /// The stored files that exist.
    package var paths: [String] {
        let rows: [StationRows] = [.stations([]), .busStops([]), .formerNames([])]
        return rows.compactMap { path(of: $0) }.filter { access($0, F_OK) == 0 }
    }

    /// The number of stored rows of the same kind; `nil` when there are none, or none that can be read.
    package func stored(_ rows: StationRows) -> Int? {
        guard let path = path(of: rows), access(path, F_OK) == 0 else { return nil }
        return (try? StationOptions.file(path, as: nil))?.rows.count
    }

    /// Stores rows for later runs, replacing those of the same kind.
    ///
    /// - Returns: the file.
    package func save(_ rows: StationRows) throws(CommandError) -> String {
        guard let folder, let path = path(of: rows) else {
            throw CommandError(.stationsNoHome)
        }
        try Files.makeFolder(folder, permissions: 0o755)
        // The stored table itself may be imported again: it was read as a whole.
        try OutputFile(path, replacing: .input).finish(rows.text)
        return path
    }
}
