// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import Glibc
package import Kazasu

/// Options of the commands that name stations.
package struct StationOptions: ParsableArguments {
    package init() {}

    @Option(
        name: .long,
        help: help(
            "A table of stations or bus stops for this run. Default: KAZASU_STATIONS, or the tables that 'stations import' saved.",
            "この実行で使う駅・バス停の表。省略時は KAZASU_STATIONS、なければ 'stations import' で保存した表。", value: "file"), completion: .file())
    package var stations: [String] = []

    /// The names from the tables of the options, the environment or the store. Having none is an error only if one was
    /// requested.
    package func names() throws(CommandError) -> any StationNames {
        var paths = stations
        if paths.isEmpty, let variable = getenv("KAZASU_STATIONS") {
            paths = String(cString: variable).split(separator: ":").map { String($0) }
        }
        if paths.isEmpty { paths = StationStore().paths }
        guard !paths.isEmpty else { return NoStationNames() }
        var table = StationTable()
        for path in paths { table.add(try StationOptions.file(path)) }
        return table
    }

    /// Reads one table.
    ///
    /// - Parameter role: what the file is to the command; `nil` for a table that is about to be replaced.
    static func file(
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
                failure.hint = tr(
                    "kazasu stations import --codes hex|decimal \(ShellWord.quoted(path))",
                    "kazasu stations import --codes hex|decimal \(ShellWord.quoted(path))")
            } else if case .malformedLine(_, let expected) = error, expected.code == .utf8 {
                failure.hint = tr(
                    "save it as UTF-8 or Shift_JIS", "UTF-8 か Shift_JIS で保存し直してください")
            }
            throw failure
        }
    }
}

extension Context {
    /// Says on a terminal why stations are shown as codes: no table has been imported.
    package func explainCodes(_ names: any StationNames, of records: some Sequence<HistoryRecord>) {
        guard names is NoStationNames, Output.messagesAreOnTerminal,
            records.contains(where: { [$0.entry, $0.exit].contains { $0?.isUnnamed ?? false } })
        else { return }
        note(
            tr(
                "stations are shown as codes, as no table has been imported; 'kazasu stations --help' says where to get one",
                "駅名の表がないため駅をコードで表示しています。入手先は 'kazasu stations --help' にあります"))
    }
}

extension Place {
    /// Whether it is a station or stop that a table could name.
    package var isUnnamed: Bool {
        if case .local = code { false } else { name?.name == nil }
    }
}

/// The directory of the user's station tables: `kazasu/` below the XDG data directory.
struct StationStore {
    /// The folder, without a slash at the end; `nil` when there is no home directory.
    let folder: String?

    init(environment: (String) -> String? = StationStore.variable) {
        if let data = environment("XDG_DATA_HOME"), data.hasPrefix("/") {
            folder = "\(data)/kazasu"
        } else {
            let home = environment("HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
            folder = home.map { "\($0)/.local/share/kazasu" }
        }
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// The file that holds this kind of rows.
    func path(of rows: StationRows) -> String? {
        let name =
            switch rows {
            case .stations: "stations.tsv"
            case .busStops: "bus_stops.tsv"
            case .formerNames: "former_names.tsv"
            }
        return folder.map { "\($0)/\(name)" }
    }

    /// The stored files that exist.
    var paths: [String] {
        let rows: [StationRows] = [.stations([]), .busStops([]), .formerNames([])]
        return rows.compactMap { path(of: $0) }.filter { access($0, F_OK) == 0 }
    }

    /// The number of stored rows of the same kind; `nil` when there are none, or none that can be read.
    func stored(_ rows: StationRows) -> Int? {
        guard let path = path(of: rows), access(path, F_OK) == 0 else { return nil }
        return (try? StationOptions.file(path, as: nil))?.rows.count
    }

    /// Stores rows for later runs, replacing those of the same kind.
    ///
    /// - Returns: the file.
    func save(_ rows: StationRows) throws(CommandError) -> String {
        guard let folder, let path = path(of: rows) else {
            throw CommandError(
                .cannotWrite, "cannotWrite",
                tr("there is no home directory to save the table in", "表を保存するホームディレクトリがありません"),
                hint: tr("set HOME or XDG_DATA_HOME", "HOME か XDG_DATA_HOME を設定してください"))
        }
        try makeFolder(folder)
        // The stored table itself may be imported again: it was read as a whole.
        try OutputFile(path, replacing: .input).finish(rows.text)
        return path
    }

    private func makeFolder(_ folder: String) throws(CommandError) {
        var path = ""
        for part in folder.split(separator: "/") {
            path += "/\(part)"
            if mkdir(path, 0o755) != 0, errno != EEXIST { throw CommandError.unwritable(path, errno) }
        }
    }
}
