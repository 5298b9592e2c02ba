// SPDX-License-Identifier: Apache-2.0

internal import SystemDevices

/// libnfc's settings from its files and the environment.
struct ConfigurationLayer {
    private let machine: Machine

    init(_ machine: Machine) {
        self.machine = machine
    }

    func checks() -> [Check] {
        let found = files() + folder() + environment()
        return found.isEmpty ? [Check(.configurationFine)] : found
    }

    private func files() -> [Check] {
        let settings = LibNFCSettings(root: machine.root)
        var checks = settings.lines.compactMap { line -> Check? in
            switch line.key {
            case "allow_autoscan" where !LibNFCSettings.isYes(line.value): Check(.autoscanOff, line.file)
            case "allow_intrusive_scan" where LibNFCSettings.isYes(line.value): Check(.intrusiveScan, line.file)
            case "device.connstring": device(line.value, in: line.file)
            default: nil
            }
        }
        let count = settings.connectionStrings.count
        if count > LibNFCSettings.mostDevices {
            checks.append(Check(.tooManyDevices, String(count)))
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
        guard !LibNFCSettings(root: machine.root, folder: LibNFCSettings.otherFolder).lines.isEmpty,
            LibNFCSettings(root: machine.root).lines.isEmpty
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
