// SPDX-License-Identifier: Apache-2.0

package import CommandDescription
import SystemPackage

/// Shell completion of values that begin with a scheme, as in `virtual:card.json` and `file:pin.txt`.
package enum SchemeCompletion {
    /// The values of `--reader`: the connected readers, and files that stand for one.
    package static let readers = CompletionKind.custom { words, index, prefix in
        candidates(words, index, prefix, files: ["virtual:", "replay:"]) { ListedReader.all().compactMap(\.readerID) }
    }

    /// The sources of a PIN or key.
    package static let secrets = CompletionKind.custom { words, index, prefix in
        candidates(words, index, prefix, files: ["file:"]) { ["env:", "fd:"] }
    }

    /// Returns the values that may follow.
    ///
    /// - Parameters:
    ///   - words: the words of the command line, as the shell has them.
    ///   - index: that of the word to complete.
    ///   - prefix: the value before the cursor.
    ///   - schemes: those that a file name follows.
    ///   - others: every other value.
    private static func candidates(
        _ words: [String], _ index: Int, _ prefix: String, files schemes: [String], others: () -> [String]
    ) -> [String] {
        guard let scheme = schemes.first(where: { prefix.hasPrefix($0) }) else { return others() + schemes }
        return FileCompletion.files(prefix.dropFirst(scheme.count)).map { scheme + $0 }
    }
}

/// Shell completion of files, and of values that are one of some words, or a file.
package enum FileCompletion {
    package static func of(_ others: [String]) -> CompletionKind {
        .custom { _, _, prefix in others + files(prefix[...]) }
    }

    /// The files and folders whose path begins with this text, sorted; folders with a slash at the end.
    ///
    /// - Parameter onlyFolders: leaves the files out.
    package static func files(_ text: Substring, onlyFolders: Bool = false) -> [String] {
        let end = text.lastIndex(of: "/").map { text.index(after: $0) } ?? text.startIndex
        let (folder, start) = (text[..<end], text[end...])
        guard let entries = try? FolderEntries(FilePath(folder.isEmpty ? "." : String(folder))) else { return [] }
        return entries.names.filter { name in
            name.string.hasPrefix(start) && (!start.isEmpty || !name.string.hasPrefix("."))
        }.compactMap { name -> String? in
            let path = String(folder) + name.string
            return Files.isFolder(path) ? path + "/" : onlyFolders ? nil : path
        }.sorted()
    }
}

/// Shell completion of lists with commas, as in `rail,bus`: of the part after the last comma.
package enum ListCompletion {
    /// - Parameter values: those that a list may have; asked for when somebody completes.
    package static func of(_ values: @escaping @Sendable () -> [String]) -> CompletionKind {
        .custom { _, _, value in
            let start = value.prefix(upTo: value.lastIndex(of: ",").map { value.index(after: $0) } ?? value.startIndex)
            let given = start.split(separator: ",").map(String.init)
            return values().filter { !given.contains($0) }.map { start + $0 }
        }
    }
}
