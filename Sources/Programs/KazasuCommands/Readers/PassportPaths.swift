// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Glibc
import Kazasu
import KazasuCLI
import SystemPackage

/// The saved files of a passport that a command line names: files, and folders of them.
struct PassportPaths {
    let paths: [String]

    /// The most files of a folder that are looked at.
    private static let mostFiles = 1000

    /// Reads everything. In a folder, what belongs to no passport is left out; a file that was named must have something of one.
    func read(_ context: Context) throws(CommandError) -> SavedPassport {
        // A number in the place of a file must not appear in a message.
        for path in paths where path != "-" && access(path, F_OK) != 0 {
            guard PassportKey(path) == nil, !ParserMessage.mayBeSecret(path) else {
                throw CommandError(.passportNumberAsFile)
            }
        }
        var saved = SavedPassport()
        for path in paths {
            guard Files.isFolder(path) else {
                guard try add(path, to: &saved) else { throw Self.foreign(path) }
                continue
            }
            try addFolder(path, to: &saved, context)
        }
        for name in saved.padded {
            context.note(
                tr("\(name): the padding behind it was left out", "\(name) の後ろの埋め草は除きました"))
        }
        return saved
    }

    private func add(_ path: String, to saved: inout SavedPassport) throws(CommandError) -> Bool {
        let bytes = try Files.read(path, limit: SavedPassport.longestFile)
        do throws(SavedPassport.Fault) {
            return try saved.add(bytes)
        } catch {
            switch error {
            case .evidence(let error): throw CommandError(error, path: path)
            case .different(let name):
                throw CommandError(.passportOtherFile, values: [Files.name(path), name])
            }
        }
    }

    /// Adds the regular files of a folder, by name; pipes, devices and other folders are not opened.
    private func addFolder(_ path: String, to saved: inout SavedPassport, _ context: Context) throws(CommandError) {
        let names: [String]
        do {
            names = try FolderEntries(FilePath(path)).names.map(\.string).sorted()
        } catch {
            throw Files.unreadable(path, (error as? Errno)?.rawValue ?? EIO)
        }
        var left: [String] = []
        var isFound = false
        for (index, name) in names.enumerated() {
            try context.checkCancelled()
            var status = stat()
            let file = "\(path)/\(name)"
            guard index < Self.mostFiles, stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
                status.st_size <= SavedPassport.longestFile, try add(file, to: &saved)
            else {
                left.append(name)
                continue
            }
            isFound = true
        }
        guard isFound else { throw Self.foreign(path) }
        guard !left.isEmpty else { return }
        let most = 5
        let shown = left.prefix(most).joined(separator: ", ") + (left.count > most ? ", …" : "")
        context.note(
            tr(
                "\(path): left out, as they belong to no passport: \(shown)",
                LineBreaker.joined(path, ": 旅券のファイルではないものを除きました: \(shown)")))
    }

    private static func foreign(_ path: String) -> CommandError {
        CommandError(CommandHost.current == nil ? .passportNoFile : .passportNoFileSent, values: [Files.name(path)])
    }
}
