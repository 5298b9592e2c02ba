// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardDecoders
import CardModel
import Glibc

/// Options of the commands that name stations.
struct StationOptions: ParsableArguments {
    @Option(
        name: .long,
        help: help(
            "A table of stations or bus stops for this run; else KAZASU_STATIONS, else what 'stations import' kept.",
            "この実行で使う駅・バス停の表。省略時は KAZASU_STATIONS、なければ 'stations import' で保存した表。", value: "file"))
    var stations: [String] = []

    /// The names from the tables that the options, the environment or the store give; none is no error unless it was
    /// asked for.
    func names() throws(Failure) -> any StationNames {
        var paths = stations
        if paths.isEmpty, let variable = getenv("KAZASU_STATIONS") {
            paths = String(cString: variable).split(separator: ":").map { String($0) }
        }
        if paths.isEmpty { paths = StationStore().paths }
        guard !paths.isEmpty else { return NoStationNames() }
        var table = StationTable()
        for path in paths { table.add(try StationOptions.file(path).rows) }
        return table
    }

    /// Reads one table.
    static func file(_ path: String, codes: StationFile.Codes? = nil) throws(Failure) -> StationFile {
        let bytes = try Files.read(path, limit: StationFile.longestDocument)
        do {
            return try StationFile(parsing: bytes, codes: codes)
        } catch {
            var failure = Failure(error, path: path)
            if case .malformed("codes", _) = error {
                failure.message = tr(
                    "\(Files.name(path)): nothing tells whether its codes are hexadecimal or decimal",
                    "\(Files.name(path)): コードが 16 進か 10 進か判断できません")
                failure.hint = tr(
                    "kazasu stations import --codes hex|decimal \(ShellWord.quoted(path))",
                    "kazasu stations import --codes hex|decimal \(ShellWord.quoted(path))")
            } else if case .malformedLine(_, "UTF-8") = error {
                failure.hint = tr(
                    "save it as UTF-8 or Shift_JIS", "UTF-8 か Shift_JIS で保存し直してください")
            }
            throw failure
        }
    }
}
