// SPDX-License-Identifier: Apache-2.0

package import CardModel
internal import FeliCa
internal import ReaderCore

/// The versions of the keys that a system's nodes have; `nil` for a kind of key that the system does not have.
struct StandardVersions: Hashable {
    var aes: [NodeCode: KeyVersion]?
    var des: [NodeCode: KeyVersion]?
    /// Whether the keys of DES have 112 bits, which no public source says how to use.
    var isDES112 = false

    /// Whether a node has a key of this kind that can be used.
    func has(_ node: NodeCode, _ scheme: StandardScheme) -> Bool { versions(scheme)?[node] != nil }

    /// Whether the card, which named others, has no such node.
    func lacks(_ node: NodeCode) -> Bool {
        aes?[node] == nil && des?[node] == nil && [aes, des].contains { $0?.isEmpty == false }
    }

    /// The versions of keys that can be used.
    func versions(_ scheme: StandardScheme) -> [NodeCode: KeyVersion]? {
        scheme == .aes ? aes : isDES112 ? nil : des
    }
}

extension CardSession {
    /// Asks for the versions of a system's AES keys, which takes no key.
    ///
    /// - Returns: the versions of the system and its nodes that have such a key; `nil` if the card does not tell AES and DES
    ///   apart, or has no key of AES.
    package func aesKeyVersions(of scan: SystemScan) throws(ReadingError) -> [NodeCode: KeyVersion]? {
        guard scan.system.isStandard else { return nil }
        let finder = StandardVersionFinder(self, scan.system)
        return try finder.newerVersions(of: [.system] + scan.nodes.map(\.code))?.aes
    }
}

/// Asks for the versions of keys, which takes no key: with Request Service v2 where the card has it, else with Request
/// Service.
final class StandardVersionFinder {
    private let session: CardSession
    private let system: SystemHandle
    /// Whether the card tells AES and DES versions apart.
    private(set) var answersV2 = false

    init(_ session: CardSession, _ system: SystemHandle) { (self.session, self.system) = (session, system) }

    /// Returns the versions of the keys of nodes; a node that does not exist has none.
    func versions(of nodes: [NodeCode]) throws(ReadingError) -> StandardVersions {
        if let versions = try newerVersions(of: nodes) { return versions }
        let found = try KeyVersionFinder(session: session, system: system).versions(of: nodes)
        return StandardVersions(aes: nil, des: found)
    }

    /// Returns the versions of the keys of a system and its nodes; of a card without AES, the list has them.
    func versions(of scan: SystemScan) throws(ReadingError) -> StandardVersions {
        if let versions = try newerVersions(of: [.system] + scan.nodes.map(\.code)) { return versions }
        var versions = StandardVersions(aes: nil, des: [:])
        versions.des?[.system] = scan.keyVersion
        for node in scan.nodes { if let version = node.keyVersion { versions.des?[node.code] = version } }
        return versions
    }

    /// Asks with Request Service v2.
    ///
    /// - Returns: `nil` if the card has no such command.
    fileprivate func newerVersions(of nodes: [NodeCode]) throws(ReadingError) -> StandardVersions? {
        guard session.target.pmm.mayAnswer(RequestServiceV2.code) else { return nil }
        var versions = StandardVersions(aes: [:], des: [:])
        // LEN, code, IDm, status flags, kind of keys and count; two versions for each node.
        let most = max(1, min(32, (session.reader.information.longestFeliCaAnswer - 14) / 4))
        for batch in nodes.batches(of: most) {
            let reply = try session.ask(system) { felica throws(FeliCaError) in
                try felica.requestServiceV2(Array(batch))
            }
            guard case .value(let answer) = reply else { return nil }
            answersV2 = true
            versions.isDES112 = answer.encryption == .des112 || answer.encryption == .aesAndDES112
            versions.aes = Self.merged(versions.aes, batch, answer.aes)
            versions.des = Self.merged(versions.des, batch, answer.des)
        }
        return versions
    }

    /// Adds the versions of nodes that were listed: of a card with AES they are asked for, of others the list has them.
    func add(_ nodes: [ScannedNode], to versions: inout StandardVersions) throws(ReadingError) {
        if answersV2 {
            let more = try self.versions(of: nodes.map(\.code))
            versions.aes = versions.aes.map { $0.merging(more.aes ?? [:]) { $1 } }
            versions.des = versions.des.map { $0.merging(more.des ?? [:]) { $1 } }
        } else {
            for node in nodes { if let version = node.keyVersion { versions.des?[node.code] = version } }
        }
    }

    private static func merged(
        _ known: [NodeCode: KeyVersion]?, _ nodes: some Sequence<NodeCode>, _ versions: [KeyVersion?]?
    ) -> [NodeCode: KeyVersion]? {
        guard var known, let versions else { return nil }
        for (node, version) in zip(nodes, versions) { known[node] = version }
        return known
    }
}
