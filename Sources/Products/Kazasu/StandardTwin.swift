// SPDX-License-Identifier: Apache-2.0

internal import CardModel
package import CardReading
package import FeliCa
internal import ReaderCore
internal import VirtualReader

/// Rehearses a key change on a virtual card with the nodes, versions and keys of the real one.
package enum StandardTwin {
    /// The PMm of a card that answers all commands.
    private static let pmm = PMm(rawValue: 0x0144_2204_2767_4EFF)

    /// Changes the keys of a virtual twin.
    ///
    /// - Returns: whether the twin then has exactly the new keys.
    /// - Throws: ``KeyChangeError``, before anything was sent to the real card.
    package static func rehearse(
        _ plan: KeyChanger.Plan, on system: SystemHandle, keys old: StandardKeys, new: StandardKeys
    ) throws(KeyChangeError) -> Bool {
        let card = VirtualFeliCaCard(systems: [twin(plan, system, old, new)])
        let reader = InProcessReader(VirtualField(cards: [card]))
        let found: PICC?
        do throws(TransportError) {
            found = try reader.activate(.felica(system.code))
        } catch {
            throw .reading(CardSession.readingError(error))
        }
        guard case .felica(let target)? = found else { return false }
        let changer = KeyChanger(
            session: CardSession(reader: reader, target: target),
            system: SystemHandle(code: system.code, idm: target.idm, pmm: target.pmm), keyring: StandardKeyring(old),
            new: new
        ) { _ throws(KeyChangeError) in }
        let own = try changer.plan(resuming: plan.changes)
        guard own.changes == plan.changes else { return false }
        try changer.run(own)
        let keys = card.systems.first?.keys?.des ?? [:]
        return plan.changes.allSatisfy { change in
            new.entry(change.node, in: system.code, .des, card: system.idm)?.key.withBytes { $0 }
                == keys[change.node.rawValue]
        }
    }

    private static func twin(
        _ plan: KeyChanger.Plan, _ system: SystemHandle, _ old: StandardKeys, _ new: StandardKeys
    ) -> VirtualSystem {
        let nodes = plan.nodes.map { node in
            let version = plan.versions[node.code] ?? KeyVersion(rawValue: 0)
            return switch node.kind {
            case .area(let start, let end): VirtualNode(area: start, end: end, keyVersion: version)
            case .service(let code): VirtualNode(service: code, keyVersion: version)
            }
        }
        var twin = VirtualSystem(
            code: system.code, idm: system.idm, pmm: pmm,
            keyVersion: plan.versions[.system] ?? KeyVersion(rawValue: 0), nodes: nodes)
        var keys = VirtualKeys()
        for node in [.system] + plan.nodes.map(\.code) {
            let isNew = plan.changes.contains { $0.node == node && $0.from == $0.to }
            keys.des[node.rawValue] = (isNew ? new : old).entry(node, in: system.code, .des, card: system.idm)?.key
                .withBytes { $0 }
        }
        twin.keys = keys
        return twin
    }
}
