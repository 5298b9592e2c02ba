// SPDX-License-Identifier: Apache-2.0

internal import SystemDevices

/// The virtual reader of pcscd that `kazasu bridge` puts cards into: vsmartcard's vpcd.
struct VirtualSlotLayer {
    private let machine: Machine

    init(_ machine: Machine) { self.machine = machine }

    /// Nothing where vpcd is not installed.
    func checks() -> [Check] {
        let listening = Self.openPorts(machine)
        return VirtualSlots.all(machine).flatMap { slots -> [Check] in
            guard slots.listens else { return [Check(.slotConnects, slots.file, slots.device)] }
            return listening.contains(slots.port) ? [Check(.slotOpen, "\(slots.port)", "\(slots.port + 1)")] : []
        }
    }

    /// The TCP ports at which something listens on every interface.
    private static func openPorts(_ machine: Machine) -> Set<Int> {
        let lines = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap { TextFile.lines(of: machine.path($0)) }
        return Set(
            lines.compactMap { line -> Int? in
                let fields = line.split(separator: " ")
                // The number, the local address, the remote one, the state: 0A is LISTEN.
                guard fields.count > 3, fields[3] == "0A" else { return nil }
                let address = fields[1].split(separator: ":")
                guard address.count == 2, address[0].allSatisfy({ $0 == "0" }) else { return nil }
                return Int(address[1], radix: 16)
            })
    }
}

/// The entry of vpcd in pcscd's configuration: two virtual readers.
package struct VirtualSlots: Hashable, Sendable {
    /// The file with the entry.
    package let file: String
    /// What pcscd calls them, followed by two numbers.
    package let name: String
    /// `/dev/null:PORT`, or the host that the driver connects to.
    package let device: String
    /// The port of the first of them; the second has the next.
    package let port: Int

    /// Whether the driver waits for connections. Debian 12's version ends pcscd when it connects by itself and there is no response.
    package var listens: Bool { device.hasPrefix("/dev/null:") }

    /// The name in the configuration that vsmartcard ships.
    private static let usualName = "Virtual PCD"

    /// The names that pcscd may give to virtual readers begin with one of these.
    package static func prefixes(_ machine: Machine) -> Set<String> {
        Set(([usualName] + all(machine).map(\.name)).map { $0 + " " })
    }

    /// The entries of a system.
    package static func all(_ machine: Machine) -> [VirtualSlots] {
        let folder = "/etc/reader.conf.d"
        let files = Directory.names(in: machine.path(folder)).sorted().map { "\(folder)/\($0)" }
        return files.flatMap { entries(in: $0, machine) }
    }

    /// An entry begins with FRIENDLYNAME; each line is a key and its value.
    private static func entries(in file: String, _ machine: Machine) -> [VirtualSlots] {
        var entries: [[String: String]] = []
        for line in TextFile.lines(of: machine.path(file)) {
            let words = line.prefix { $0 != "#" }.split(maxSplits: 1) { $0 == " " || $0 == "\t" }
            guard words.count == 2 else { continue }
            if words[0] == "FRIENDLYNAME" || entries.isEmpty { entries.append([:]) }
            entries[entries.count - 1][String(words[0])] = String(words[1].drop { $0 == " " || $0 == "\t" })
        }
        return entries.compactMap { entry in
            guard entry["LIBPATH"]?.contains("libifdvpcd") == true, let device = entry["DEVICENAME"],
                let number = device.split(separator: ":").last
            else { return nil }
            let port = number.hasPrefix("0x") ? Int(number.dropFirst(2), radix: 16) : Int(number)
            let name = entry["FRIENDLYNAME"].map { String($0.filter { $0 != "\"" }) } ?? usualName
            return port.map { VirtualSlots(file: file, name: name, device: device, port: $0) }
        }
    }
}
