// SPDX-License-Identifier: Apache-2.0

internal import SystemDevices

/// libnfc's configuration files, as its `conf.c` reads them: `key = value`, in quotes or not, `#` before comments.
struct LibNFCSettings {
    /// One line that says something.
    struct Line: Hashable {
        let file: String
        let key: String
        let value: String
    }

    static let folder = "/etc/nfc"
    /// Where a libnfc that was built by hand looks.
    static let otherFolder = "/usr/local/etc/nfc"

    let lines: [Line]

    init(_ machine: Machine, folder: String = Self.folder) {
        let devices = Directory.names(in: machine.path("\(folder)/devices.d")).filter { $0.hasSuffix(".conf") }
        let files = ["\(folder)/libnfc.conf"] + devices.map { "\(folder)/devices.d/\($0)" }
        lines = files.flatMap { file in
            TextFile.lines(of: machine.path(file)).compactMap { Self.line($0, in: file) }
        }
    }

    private static func line(_ text: String, in file: String) -> Line? {
        let text = text.prefix { $0 != "#" }
        guard let sign = text.firstIndex(of: "=") else { return nil }
        let key = trimmed(text[..<sign])
        let value = trimmed(text[text.index(after: sign)...])
        return key.isEmpty ? nil : Line(file: file, key: key, value: value)
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        let outer: Set<Character> = [" ", "\t", "\r", "\""]
        while let first = text.first, outer.contains(first) { text.removeFirst() }
        while let last = text.last, outer.contains(last) { text.removeLast() }
        return String(text)
    }

    /// libnfc's words for yes.
    static func isYes(_ value: String) -> Bool { ["yes", "true", "1"].contains(value.lowercased()) }

    /// The readers that the files name.
    var devices: [Line] { lines.filter { $0.key == "device.connstring" } }
}
