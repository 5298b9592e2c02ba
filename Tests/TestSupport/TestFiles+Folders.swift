// SPDX-License-Identifier: Apache-2.0

internal import Glibc

extension TestFiles {
    /// The names in a folder below the top of the repository, sorted, without hidden ones; empty when there is none.
    package static func names(in folder: String) -> [String] {
        guard let directory = opendir("\(root)/\(folder)") else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = entryName(entry)
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    /// The lines of a text below the top of the repository, each split at its tabs, without comments (`#`) and the
    /// first, which names the columns; every line is a dictionary by column.
    package static func table(_ path: String) throws -> [[String: String]] {
        let lines = String(decoding: try read(path), as: UTF8.self).split(separator: "\n").filter { $0.first != "#" }
            .map {
                $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            }
        guard let columns = lines.first else { return [] }
        return lines.dropFirst().map { Dictionary(zip(columns, $0)) { first, _ in first } }
    }
}

/// The name of an entry, which is only as long as its name: copied as a `dirent`, it would be read past its end.
func entryName(_ entry: UnsafeMutablePointer<dirent>) -> String {
    let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
    return String(cString: UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self))
}
