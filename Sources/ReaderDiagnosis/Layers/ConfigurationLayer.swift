// SPDX-License-Identifier: Apache-2.0

internal import SystemDevices

/// libnfc's settings from its files and the environment.
struct ConfigurationLayer {
    /// libnfc's MAX_USER_DEFINED_DEVICES.
    private static let mostDevices = 4

    private let machine: Machine

    init(_ machine: Machine) {
        self.machine = machine
    }

    func checks() -> [Check] {
        let found = files() + folder() + environment()
        return found.isEmpty ? [Check(.configurationFine)] : found
    }

    private func files() -> [Check] {
        let settings = LibNFCSettings(machine)
        var checks = settings.lines.compactMap { line -> Check? in
            switch line.key {
            case "allow_autoscan" where !LibNFCSettings.isYes(line.value): Check(.autoscanOff, line.file)
            case "allow_intrusive_scan" where LibNFCSettings.isYes(line.value): Check(.intrusiveScan, line.file)
            case "device.connstring": device(line.value, in: line.file)
            default: nil
            }
        }
        if settings.devices.count > Self.mostDevices {
            checks.append(Check(.tooManyDevices, String(settings.devices.count)))
        }
        return checks
    }

    private func device(_ text: String, in place: String) -> Check? {
        let port = NamedPort(text)
        guard port.isKnown else { return Check(.configuredDriverMissing, place, text) }
        guard let path = port.path, !machine.exists(path) else { return nil }
        return Check(.configuredPortMissing, place, path)
    }

    /// Files in a folder that is not read, when there are none in the one that is.
    private func folder() -> [Check] {
        guard !LibNFCSettings(machine, folder: LibNFCSettings.otherFolder).lines.isEmpty,
            LibNFCSettings(machine).lines.isEmpty
        else { return [] }
        return [Check(.unreadFolder, LibNFCSettings.otherFolder, LibNFCSettings.folder)]
    }

    private func environment() -> [Check] {
        var checks: [Check] = []
        for name in ["LIBNFC_DEVICE", "LIBNFC_DEFAULT_DEVICE"] {
            guard let text = value(name) else { continue }
            if name == "LIBNFC_DEVICE" { checks.append(Check(.environmentDevice)) }
            if let check = device(text, in: name) { checks.append(check) }
        }
        if let text = value("LIBNFC_AUTO_SCAN"), !LibNFCSettings.isYes(text) {
            checks.append(Check(.environmentAutoscan))
        }
        if let text = value("LIBNFC_INTRUSIVE_SCAN"), LibNFCSettings.isYes(text) {
            checks.append(Check(.environmentIntrusive))
        }
        if let text = value("LIBNFC_LOG_LEVEL"), text != "0" { checks.append(Check(.environmentLog)) }
        return checks
    }

    private func value(_ name: String) -> String? {
        machine.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// libnfc's configuration files, as parsed by its `conf.c`: `key = value`, in quotes or not, `#` before comments.
struct LibNFCSettings {
    /// One line with a setting.
    struct Line: Hashable {
        let file: String
        let key: String
        let value: String
    }

    static let folder = "/etc/nfc"
    /// The folder of a libnfc that was built by hand.
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

    /// libnfc's values for yes.
    static func isYes(_ value: String) -> Bool { ["yes", "true", "1"].contains(value.lowercased()) }

    /// The readers that the files name.
    var devices: [Line] { lines.filter { $0.key == "device.connstring" } }
}
