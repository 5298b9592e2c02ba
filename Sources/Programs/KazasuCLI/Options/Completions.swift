// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
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
    ///   - prefix: the part of that word before the cursor.
    ///   - schemes: those that a file name follows.
    ///   - others: every other value.
    private static func candidates(
        _ words: [String], _ index: Int, _ prefix: String, files schemes: [String], others: () -> [String]
    ) -> [String] {
        let word = words.indices.contains(index) ? words[index] : prefix
        // With `--reader=virtual:`, zsh and fish complete the part after the equals sign.
        let value = word.hasPrefix("--") ? word.drop { $0 != "=" }.dropFirst() : word[...]
        let scheme = schemes.first { value.hasPrefix($0) }
        let found = scheme.map { scheme in files(value.dropFirst(scheme.count)).map { scheme + $0 } }
        let values = found ?? others() + schemes
        // For zsh, a colon begins a description.
        return CompletionShell.requesting == .zsh ? values.map { $0.replacing(":", with: "\\:") } : values
    }

    /// The files and folders whose path begins with this text, sorted; folders with a slash at the end.
    private static func files(_ text: Substring) -> [String] {
        let end = text.lastIndex(of: "/").map { text.index(after: $0) } ?? text.startIndex
        let (folder, start) = (text[..<end], text[end...])
        guard let entries = try? FolderEntries(FilePath(folder.isEmpty ? "." : String(folder))) else { return [] }
        return entries.names.filter { name in
            name.string.hasPrefix(start) && (!start.isEmpty || !name.string.hasPrefix("."))
        }.map { name in
            let path = String(folder) + name.string
            return Files.isFolder(path) ? path + "/" : path
        }.sorted()
    }
}

/// The completion script for a shell, as ArgumentParser writes it.
package enum CompletionScript {
    /// Returns the script with what Kazasu adds to it: colons in bash, and in every shell the commands after `help`.
    package static func complete(_ script: String) -> String {
        if script.hasPrefix("#!/bin/bash") { return script + colons }
        // In fish, each value would have the description of its option.
        let script = script.replacing(#/ -rfka '([^'(]+)'/#) { found in
            " -rfka '" + found.1.split(separator: " ").map { $0 + "\\t\\'\\'" }.joined(separator: " ") + "'"
        }
        return helpOfCommands.reduce(script) { $0.replacing($1.line, with: $1.line + $1.addition, maxReplacements: 1) }
    }

    /// `help COMMAND` completes as `COMMAND` does. A line of the script of zsh or fish, and what follows it.
    private static let helpOfCommands = [
        (
            line: "_kazasu() {\n",
            addition: """
                if [[ ${words[2]} == help ]] && ((CURRENT > 2)); then
                    words[2]=()
                    ((CURRENT--))
                fi

            """
        ),
        (
            line: "    set -l unparsed_tokens (__kazasu_tokens -pc)\n",
            addition: """
                if test (count $unparsed_tokens) -gt 1; and test "$unparsed_tokens[2]" = help
                    set -e unparsed_tokens[2]
                end

            """
        ),
    ]

    /// bash breaks words at colons, which the IDs of readers contain. The words are joined again, and of the answers only
    /// the part is left that bash inserts. bash itself adds the slash of a folder, and would put a backslash before the
    /// colon of a file name.
    private static let colons = #"""


        _kazasu_joining_colons() {
            local -a words=()
            local -i index=0 i
            for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
                if ((i > 1)) && [[ ${COMP_WORDS[i]} == :* || ${COMP_WORDS[i - 1]} == *: ]]; then
                    words[${#words[@]} - 1]+=${COMP_WORDS[i]}
                else
                    words+=("${COMP_WORDS[i]}")
                fi
                ((i != COMP_CWORD)) || index=$((${#words[@]} - 1))
            done
            if ((index > 1)) && [[ ${words[1]} == help ]]; then
                words=("${words[0]}" "${words[@]:2}")
                index=$((index - 1))
            fi
            local -a COMP_WORDS=("${words[@]}")
            local COMP_CWORD=${index}
            local whole=${words[index]}
            _kazasu "${1}" "${whole}" "${words[index - 1]}"
            [[ ${whole} != *:* ]] || COMPREPLY=("${COMPREPLY[@]#"${whole%:*}:"}")
            [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *[:/] ]] || compopt -o nospace
            [[ ${COMPREPLY[*]} != *:* ]] || compopt +o filenames
            COMPREPLY=("${COMPREPLY[@]%/}")
        }
        complete -o filenames -F _kazasu_joining_colons kazasu
        """#
}
