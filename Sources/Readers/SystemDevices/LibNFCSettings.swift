// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// libnfc's configuration files, as parsed by its `conf.c`: `key = value`, in quotes or not, `#` before comments.
package struct LibNFCSettings: Sendable {
    /// One line with a setting.
    package struct Line: Hashable, Sendable {
        package let file: String
        package let key: String
        package let value: String
    }

    /// A reader that the files name.
    package struct Device: Hashable, Sendable {
        package var name = ""
        package var connectionString = ""
        /// Whether it is listed only while it is connected.
        package var isOptional = false

        package init(name: String = "", connectionString: String = "", isOptional: Bool = false) {
            self.name = name
            self.connectionString = connectionString
            self.isOptional = isOptional
        }
    }

    package static let folder = "/etc/nfc"
    /// The folder of a libnfc that was built by hand.
    package static let otherFolder = "/usr/local/etc/nfc"
    /// libnfc's MAX_USER_DEFINED_DEVICES.
    package static let mostDevices = 4

    package let lines: [Line]

    /// Reads the files.
    ///
    /// - Parameter root: the prefix of every path, which ``Line/file`` does not contain.
    package init(root: String = "", folder: String = Self.folder) {
        let devices = Directory.names(in: "\(root)\(folder)/devices.d").filter { $0.hasSuffix(".conf") }
        let files = ["\(folder)/libnfc.conf"] + devices.map { "\(folder)/devices.d/\($0)" }
        lines = files.flatMap { file in
            TextFile.lines(of: root + file).compactMap { Self.line($0, in: file) }
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

    /// libnfc's values for yes.
    package static func isYes(_ value: String) -> Bool { ["yes", "true", "1"].contains(value.lowercased()) }

    /// libnfc's values for yes and no; `nil` for others, which change nothing.
    package static func boolean(_ value: String) -> Bool? {
        isYes(value) ? true : ["no", "false", "0"].contains(value.lowercased()) ? false : nil
    }

    /// Whether the files let libnfc look for USB readers.
    package var allowsAutoscan: Bool {
        lines.filter { $0.key == "allow_autoscan" }.compactMap { Self.boolean($0.value) }.last ?? true
    }

    /// The lines that name readers.
    package var connectionStrings: [Line] { lines.filter { $0.key == "device.connstring" } }

    /// The readers that the files name. A name or a connection string begins another reader when the last one has it.
    package var devices: [Device] {
        var devices: [Device] = []
        for line in lines {
            var device = devices.last ?? Device()
            var isNew = devices.isEmpty
            switch line.key {
            case "device.name":
                if !device.name.isEmpty { (device, isNew) = (Device(), true) }
                device.name = line.value
            case "device.connstring":
                if !device.connectionString.isEmpty { (device, isNew) = (Device(), true) }
                device.connectionString = line.value
            case "device.optional": device.isOptional = Self.isYes(line.value)
            default: continue
            }
            if !isNew { devices.removeLast() }
            devices.append(device)
        }
        return devices.filter { !$0.connectionString.isEmpty }
    }
}

/// Small text files, without Foundation.
package enum TextFile {
    /// Configuration files are shorter; longer ones are truncated.
    private static let longest = 65_536

    /// The lines of a file, none when it cannot be read. Invalid UTF-8 is replaced.
    package static func lines(of path: String) -> [String] {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while text.count < longest {
            let count = unsafe read(file, &buffer, buffer.count)
            guard count > 0 else { break }
            text += buffer.prefix(count)
        }
        return text.split(separator: 0x0A, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    }
}
