// SPDX-License-Identifier: Apache-2.0

internal import CardModel
package import CardReading
package import FeliCa
internal import ReaderCore
internal import VirtualReader

/// Rehearses a key change or an issuance on a virtual card with the nodes, versions and keys of the real one.
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
        guard let session = try session(card, system.code) else { return false }
        let changer = KeyChanger(
            session: session, system: SystemHandle(code: system.code, idm: system.idm, pmm: pmm),
            keyring: StandardKeyring(old), new: new
        ) { _ throws(KeyChangeError) in }
        let own = try changer.plan(resuming: plan.changes)
        guard own.changes == plan.changes else { return false }
        try changer.run(own)
        let keys = card.systems.first?.keys?.des ?? [:]
        return plan.changes.allSatisfy { change in
            bytes(new.entry(change.node, in: system.code, .des, card: system.idm)) == keys[change.node.rawValue]
        }
    }

    /// Issues a virtual blank card.
    ///
    /// - Returns: whether it then has exactly the nodes, keys and data of the profile.
    /// - Throws: ``KeyChangeError``, before anything was sent to the real card.
    package static func rehearse(
        _ profile: StandardProfile, on state: StandardIssuer.State, keys factory: StandardKeys, new: StandardKeys
    ) throws(KeyChangeError) -> Bool {
        let idm = state.system.idm
        func factoryKey(_ node: NodeCode) -> [UInt8]? {
            bytes(factory.entry(node, in: StandardIssuer.blank, .des, card: idm))
        }
        // A card that is issued in part has other versions; the twin begins as that one did.
        let factoryVersion = KeyVersion(rawValue: 0xF000)
        var blank = VirtualSystem(
            code: StandardIssuer.blank, idm: idm, pmm: pmm,
            keyVersion: state.isBlank ? state.versions[.system] ?? factoryVersion : factoryVersion)
        if state.isBlank, let version = state.versions[AreaCode.root.node] {
            blank.setKeyVersion(version, of: AreaCode.root.rawValue)
        } else if let version = factory.entry(AreaCode.root.node, in: StandardIssuer.blank, .des, card: idm)?.version {
            blank.setKeyVersion(version, of: AreaCode.root.rawValue)
        }
        if !state.isBlank, let version = factory.entry(.system, in: StandardIssuer.blank, .des, card: idm)?.version {
            blank.keyVersion = version
        }
        blank.freeBlocks = UInt16(clamping: state.free ?? 0xFFFF)
        var keys = VirtualKeys()
        keys.des[NodeCode.system.rawValue] = factoryKey(.system)
        keys.des[AreaCode.root.rawValue] = factoryKey(AreaCode.root.node)
        blank.keys = keys
        let card = VirtualFeliCaCard(systems: [blank])
        guard let session = try session(card, StandardIssuer.blank) else { return false }
        let issuer = StandardIssuer(session: session, profile: profile, keyring: StandardKeyring(factory), new: new) {
            _ throws(KeyChangeError) in
        }
        _ = try issuer.plan()
        try issuer.run()
        guard let issued = card.systems.first, issued.code == profile.system, issued.freeBlocks == nil,
            let own = issued.keys, own.issueID == profile.issue.id, own.issueParameter == profile.issue.parameter,
            own.des.count == profile.keyedNodes.count + 1
        else { return false }
        let areKeysRight = ([.system] + profile.keyedNodes).allSatisfy { node in
            bytes(new.entry(node, in: profile.system, .des, card: idm)) == own.des[node.rawValue]
        }
        let areNodesRight =
            Set(issued.nodes.map(\.code)) == Set(profile.versions.keys)
            && issued.nodes.allSatisfy { profile.versions[$0.code] == $0.keyVersion }
        let isDataRight = profile.services.allSatisfy { service in
            let store = issued.blocks(service.codes[0])
            return store.count == Int(service.blocks)
                && service.data.enumerated().allSatisfy { store[UInt16(clamping: $0)] == $1 }
        }
        return areKeysRight && areNodesRight && isDataRight
    }

    private static func bytes(_ entry: StandardKeys.Entry?) -> [UInt8]? { entry?.key.withBytes { $0 } }

    /// A session with a virtual card; `nil` if it does not answer.
    private static func session(
        _ card: VirtualFeliCaCard, _ system: SystemCode
    ) throws(KeyChangeError) -> CardSession? {
        let reader = InProcessReader(VirtualField(cards: [card]))
        do throws(TransportError) {
            guard case .felica(let target)? = try reader.activate(.felica(system)) else { return nil }
            return CardSession(reader: reader, target: target)
        } catch {
            throw .reading(CardSession.readingError(error))
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
            keys.des[node.rawValue] = bytes((isNew ? new : old).entry(node, in: system.code, .des, card: system.idm))
        }
        twin.keys = keys
        return twin
    }
}
