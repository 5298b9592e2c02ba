// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A folder that is gone at the end of the test, with the files in it.
package final class TemporaryFolder: Sendable {
    /// Where it is, without a slash at the end.
    package let path: String

    /// A new folder.
    package init() throws {
        var template = "/tmp/kazasu-tests-XXXXXX".utf8CString.map { $0 }
        guard let made = mkdtemp(&template) else { throw ChildProcess.NotStarted(program: "mkdtemp", code: errno) }
        path = String(cString: made)
    }

    /// Makes a file in it.
    ///
    /// - Returns: its path.
    package func write(_ bytes: some Collection<UInt8>, as name: String) throws -> String {
        let whole = "\(path)/\(name)"
        guard let file = fopen(whole, "wb") else { throw TestFiles.Unreadable(path: whole) }
        defer { fclose(file) }
        let bytes = Array(bytes)
        guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw TestFiles.Unreadable(path: whole) }
        return whole
    }

    /// The names of what is in it, sorted.
    package var names: [String] { TemporaryFolder.names(in: path) }

    private static func names(in path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = entryName(entry)
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    private static func remove(_ path: String) {
        for name in names(in: path) where unlink("\(path)/\(name)") != 0 { remove("\(path)/\(name)") }
        rmdir(path)
    }

    deinit { TemporaryFolder.remove(path) }
}
