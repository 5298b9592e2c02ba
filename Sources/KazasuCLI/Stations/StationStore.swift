// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import Glibc

/// Where the user's station tables lie: `kazasu/` below the XDG data directory.
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

    /// The file that holds such rows.
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

    /// Keeps rows for later runs, in place of those of the same kind.
    ///
    /// - Returns: the file.
    func save(_ rows: StationRows) throws(Failure) -> String {
        guard let folder, let path = path(of: rows) else {
            throw Failure(
                .cannotWrite, "cannotWrite",
                tr("there is no home directory to keep the table in", "表を保存するホームディレクトリがありません"),
                hint: tr("set HOME or XDG_DATA_HOME", "HOME か XDG_DATA_HOME を設定してください"))
        }
        try makeFolder(folder)
        try OutputFile(path).finish(rows.text)
        return path
    }

    private func makeFolder(_ folder: String) throws(Failure) {
        var path = ""
        for part in folder.split(separator: "/") {
            path += "/\(part)"
            if mkdir(path, 0o755) != 0, errno != EEXIST { throw Failure.unwritable(path, errno) }
        }
    }
}
