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
        guard let file = fopen(whole, "wbe") else { throw TestFiles.Unreadable(path: whole) }
        defer { fclose(file) }
        let bytes = Array(bytes)
        guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw TestFiles.Unreadable(path: whole) }
        return whole
    }

    /// Makes a shell script in it that can be run.
    ///
    /// A shell writes it: while this process has a program open for writing, so has each child that another test starts
    /// meanwhile, until its own program runs, and then the system refuses to run the first (`ETXTBSY`).
    ///
    /// - Returns: its path.
    package func script(_ lines: String, as name: String = "run") throws -> String {
        let whole = "\(path)/\(name)"
        let result = try ChildProcess.run(
            "/bin/sh", ["-c", #"printf '#!/bin/sh\n%s\n' "$1" > "$2" && chmod 755 "$2""#, "sh", lines, whole])
        guard result.end == .exited(0) else { throw TestFiles.Unreadable(path: whole) }
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
