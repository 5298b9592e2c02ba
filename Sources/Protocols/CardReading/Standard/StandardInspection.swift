// SPDX-License-Identifier: Apache-2.0

public import CardModel
internal import FeliCa
internal import ReaderCore

/// The keys of one system of a FeliCa Standard, as the card states them without a key.
public struct StandardSystem: Hashable, Sendable {
    /// The system.
    public let system: SystemHandle
    /// The ciphers that its keys are for; empty if the card states none.
    public let schemes: [StandardScheme]
    /// Whether its DES keys have 112 bits, which no public source says how to use.
    public let isDES112: Bool
    /// The system itself, then its areas and services, ascending by code.
    public let nodes: [StandardNode]
}

/// A node of a FeliCa Standard, and how its owner's key fits.
public struct StandardNode: Hashable, Sendable {
    /// What a node is; the raw values are those of `kazasu.standardInfo/1`.
    public enum Kind: String, Hashable, Sendable {
        /// The system, whose code is `FFFF`.
        case system
        /// An area.
        case area
        /// A service.
        case service
    }

    /// Whether the owner's key fits; the raw values are those of `kazasu.standardInfo/1`.
    @nonexhaustive
    public enum KeyState: String, Hashable, Sendable {
        /// The card confirmed it.
        case fits
        /// The card did not confirm it. If the system and the root area both have this state, one of their keys is wrong.
        case wrongKey
        /// The card has another version of it; it was not used.
        case keyVersion
        /// The card did not confirm it before; it was not used.
        case keyFailedBefore
        /// There is no key.
        case noKey

        init(_ refusal: KeyRefusal) {
            self =
                switch refusal {
                case .wrongKey: .wrongKey
                case .keyVersion: .keyVersion
                case .keyFailedBefore: .keyFailedBefore
                case .noKey: .noKey
                }
        }
    }

    /// The code.
    public let code: NodeCode
    /// What it is.
    public let kind: Kind
    /// The version of its DES key; `nil` if it has none.
    public let desVersion: KeyVersion?
    /// The version of its AES key; `nil` if it has none.
    public let aesVersion: KeyVersion?
    /// Whether the owner's key fits; `nil` without keys, for a service that needs none, and where no service settles it.
    public let key: KeyState?
}

/// Asks a card for the versions of its keys, and tries the owner's keys without reading anything.
package struct StandardInspection {
    private let session: CardSession
    private let keyring: StandardKeyring?
    private let progress: (ReadingProgress) -> Void

    /// - Parameter keyring: the owner's keys; `nil` to send none.
    package init(
        session: CardSession, keyring: StandardKeyring? = nil,
        progress: @escaping (ReadingProgress) -> Void = { _ in }
    ) {
        (self.session, self.keyring, self.progress) = (session, keyring, progress)
    }

    /// Inspects all systems; what was found before an error is kept in `systems`.
    package func run(into systems: inout [StandardSystem]) throws(ReadingError) {
        var found: [StandardSystem] = []
        defer { systems = found }
        let scanner = CardScanner(session: session, progress: progress)
        let traversal = SystemTraversal(session: session)
        try traversal.run { system throws(ReadingError) in
            guard system.isStandard else { return }
            var scan = SystemScan(system: system)
            try scanner.nodes(of: system, on: traversal.listed, into: &scan)
            let versions = try StandardVersionFinder(session, system).versions(of: scan)
            var keys: KeyStates?
            if let keyring {
                let reading = StandardReading(session: session, system: system, keyring: keyring)
                try reading.prove(scan.services.filter(reading.hasKey)) { scan.nodes }
                keys = KeyStates(reading, keyring.keys, system, session.target.idm, versions)
            }
            found.append(Self.system(scan, versions, keys))
        }
    }

    private static func system(_ scan: SystemScan, _ versions: StandardVersions, _ keys: KeyStates?) -> StandardSystem {
        func node(_ code: NodeCode, _ kind: StandardNode.Kind, _ key: StandardNode.KeyState?) -> StandardNode {
            StandardNode(
                code: code, kind: kind, desVersion: versions.des?[code], aesVersion: versions.aes?[code], key: key)
        }
        var nodes = [node(.system, .system, keys?.ofNode(.system))]
        for scanned in scan.nodes {
            switch scanned.kind {
            case .area(let code, _): nodes.append(node(code.node, .area, keys?.ofNode(code.node)))
            case .service(let code): nodes.append(node(code.node, .service, keys?.ofService(code)))
            }
        }
        let schemes = StandardScheme.allCases.filter { scheme in
            (scheme == .aes ? versions.aes : versions.des)?.isEmpty == false
        }
        return StandardSystem(system: scan.system, schemes: schemes, isDES112: versions.isDES112, nodes: nodes)
    }
}

/// How the owner's keys fit the nodes of a system, after its services were tried.
private struct KeyStates {
    private let reading: StandardReading
    private let keys: StandardKeys
    private let system: SystemHandle
    private let card: IDm
    private let versions: StandardVersions

    init(
        _ reading: StandardReading, _ keys: StandardKeys, _ system: SystemHandle, _ card: IDm,
        _ versions: StandardVersions
    ) {
        (self.reading, self.keys, self.system) = (reading, keys, system)
        (self.card, self.versions) = (card, versions)
    }

    func ofService(_ service: ServiceCode) -> StandardNode.KeyState? {
        guard service.requiresAuthentication, !service.requiresPIN, service.kind != nil else { return nil }
        switch reading.ends[service] {
        case .opened: return .fits
        case .failed(let failure) where failure.node == service.node: return StandardNode.KeyState(failure.reason)
        default: return keys.hasKey(of: service.node, in: system.code, card: card) ? nil : .noKey
        }
    }

    /// The state of an area's key, or of the system's, as far as services show it.
    func ofNode(_ node: NodeCode) -> StandardNode.KeyState? {
        // The card has no such key either.
        guard versions.aes?[node] != nil || versions.des?[node] != nil else { return nil }
        let areas = node == .system ? [AreaCode.root.node] : [node]
        if reading.provedPaths.contains(where: { !Set($0).isDisjoint(with: areas) }) { return .fits }
        if let wrong = reading.wrongPaths.first(where: { $0.key.last == areas[0] }) {
            return StandardNode.KeyState(wrong.value)
        }
        let entries = StandardScheme.allCases.compactMap { scheme in
            keys.entry(node, in: system.code, scheme, card: card).map { (scheme, $0) }
        }
        guard !entries.isEmpty else { return .noKey }
        let isOther = entries.allSatisfy { scheme, entry in
            guard let wanted = entry.version, let known = versions.versions(scheme)?[node] else { return false }
            return wanted != known
        }
        return isOther ? .keyVersion : nil
    }
}
