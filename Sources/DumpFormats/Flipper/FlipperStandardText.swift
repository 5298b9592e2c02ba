// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel

/// The part of a Flipper file in data format 2 with systems, areas, services and blocks.
///
/// The file has one IDm and one PMm; those of each system go into comments, which the Flipper passes over.
struct FlipperStandardText {
    private let dump: CardDump

    init(_ dump: CardDump) {
        self.dump = dump
    }

    var text: String {
        var text = """
            IC Type: FeliCa Standard

            # Felica Standard specific data
            System found: \(dump.systems.count)

            """
        for (number, system) in dump.systems.enumerated() {
            let place = Hex.encode(number, digits: 2)
            text += "\n\nSystem \(place): \(system.systemCode)\n"
            if !system.isAssumed("idm") { text += "# System \(place) IDm: \(system.idm.description.uppercased())\n" }
            if !system.isAssumed("pmm") { text += "# System \(place) PMm: \(system.pmm.description.uppercased())\n" }
            text += areas(of: system) + services(of: system) + blocks(of: system)
        }
        return text
    }

    private func areas(of system: SystemDump) -> String {
        var text = "\nArea found: \(system.areas.count)\n"
        for (number, area) in system.areas.enumerated() {
            let codes = system.services.map(\.code.rawValue)
            let inside = codes.indices.filter { codes[$0] >= area.start.rawValue && codes[$0] <= area.end.rawValue }
            let first = Hex.encode(inside.first ?? codes.count { $0 < area.start.rawValue }, digits: 3)
            let last = Hex.encode(inside.last ?? 0, digits: 3)
            text += "Area \(Hex.encode(number, digits: 3)): | Code \(area.start) | Services #\(first)-#\(last) |\n"
        }
        return text
    }

    private func services(of system: SystemDump) -> String {
        var text = "\nService found: \(system.services.count)\n"
        for (number, service) in system.services.enumerated() {
            let code = service.code
            text += "Service \(Hex.encode(number, digits: 3)): | Code \(code) "
            text += "| Attrib. \(Hex.encode(code.attribute, digits: 2)) "
            text += "| \(code.requiresAuthentication ? "Private" : "Public ") | \(kind(code)) | \(access(code)) |\n"
        }
        return text
    }

    private func blocks(of system: SystemDump) -> String {
        let blocks = system.services.flatMap { service in service.blocks.map { (service.code, $0) } }
        var text = "\nPublic blocks read: \(blocks.count)\n"
        for (place, (code, (number, block))) in blocks.enumerated() {
            let index = Hex.encode(number, digits: number > 0xFF ? 4 : 2)
            let bytes = Hex.encode(block.bytes, uppercase: true, separator: " ")
            let digits = place > 0xFFFF ? 8 : 4
            text += "Block \(Hex.encode(place, digits: digits)): "
            text += "| Service code \(code) | Block index \(index) | Data: \(bytes) |\n"
        }
        return text
    }

    private func kind(_ code: ServiceCode) -> String {
        switch code.kind {
        case .random: "Random"
        case .cyclic: "Cyclic"
        case .purse: "Purse "
        case nil: "?     "
        }
    }

    private func access(_ code: ServiceCode) -> String {
        switch code.access {
        case .readWrite: "Read/Write"
        case .readOnly: "Read Only "
        case .direct: "Direct    "
        case .cashback: "Cashback  "
        case .decrement: "Decrement "
        case nil: "?         "
        }
    }
}
