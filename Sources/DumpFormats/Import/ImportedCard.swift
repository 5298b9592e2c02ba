// SPDX-License-Identifier: Apache-2.0

import CardModel

/// One FeliCa card while a file is read.
struct ImportedCard {
    /// The IDm that the file gives for the card, or `nil`.
    var idm: IDm?
    /// The PMm that the file gives for the card, or `nil`.
    var pmm: PMm?
    /// When the card was read, ISO 8601.
    var readAt: String?
    var tool: String?
    /// Whether the file holds all that can be read without a key, as far as it says.
    var complete = true
    var missing: [MissingPart] = []
    var systems: [ImportedSystem] = []
    /// Members of the dump; those that the file has and Kazasu has no place for go below the name of the format.
    var extra = JSONObject()

    /// The dump; marks in each system what the file did not say.
    ///
    /// In an ordinary card all systems have the same IDm but for its high nibble, the number of the system, and the
    /// same PMm; so a file that gives them once is read like that.
    ///
    /// - Throws: what `unnamed` says when a system's code is neither given nor to be told from its services.
    func dump(unnamed: DocumentError) throws(DocumentError) -> CardDump {
        var dumps: [SystemDump] = []
        for (number, system) in systems.enumerated() {
            var assumed: [JSONValue] = []
            let services = system.finishedServices
            if system.code == nil || system.isCodeAssumed { assumed.append("systemCode") }
            guard let code = system.code ?? ImportedSystem.assumedCode(for: services.map(\.code)) else { throw unnamed }
            let ofCard = systems.count == 1 ? idm : idm?.inSystem(UInt8(truncatingIfNeeded: number))
            if system.idm == nil, idm == nil || systems.count > 1 { assumed.append("idm") }
            if system.pmm == nil, pmm == nil || systems.count > 1 { assumed.append("pmm") }
            var extra = system.extra
            if !assumed.isEmpty { extra["assumed"] = .array(assumed) }
            dumps.append(
                SystemDump(
                    systemCode: code, idm: system.idm ?? ofCard ?? IDm(rawValue: 0),
                    pmm: system.pmm ?? pmm ?? PMm(rawValue: 0), areas: system.areas, services: services, extra: extra))
        }
        return CardDump(
            tool: tool, readAt: readAt, complete: complete, missing: missing,
            card: CardIdentity(
                technology: .felica, idm: idm ?? systems.first?.idm, pmm: pmm ?? systems.first?.pmm),
            systems: dumps, extra: extra)
    }

    /// The dump of a file that names every system.
    func dump() throws(DocumentError) -> CardDump {
        try dump(unnamed: .missing(key: "systemCode"))
    }
}
