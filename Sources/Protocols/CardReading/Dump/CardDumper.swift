// SPDX-License-Identifier: Apache-2.0

public import CardModel
internal import FeliCa
internal import ReaderCore

/// Reads every block of a FeliCa card that needs no key, system by system, and can resume an interrupted dump.
package struct CardDumper: Dumper {
    private let session: CardSession
    private let selection: DumpSelection
    private let earlier: CardDump?
    private let layouts: CardLayouts
    private let keyring: StandardKeyring?
    private let progress: (ReadingProgress) -> Void

    /// Makes a dumper for the card in this session.
    ///
    /// - Parameters:
    ///   - earlier: an incomplete dump of the same card; what it contains is not read again.
    ///   - layouts: what to predict the nodes from; without layouts, each is asked for. The result is the same.
    ///   - keyring: the owner's keys; `nil` to read only what needs no key.
    package init(
        session: CardSession, selection: DumpSelection = .everything, resuming earlier: CardDump? = nil,
        layouts: CardLayouts = .shipped, keyring: StandardKeyring? = nil,
        progress: @escaping (ReadingProgress) -> Void = { _ in }
    ) {
        self.session = session
        self.selection = selection
        self.earlier = earlier
        self.layouts = layouts
        self.keyring = keyring
        self.progress = progress
    }

    /// Returns whether one of the dump's systems, or its card, has the IDm of this session's card.
    package func isSameCard(_ dump: CardDump) -> Bool {
        let idm = session.target.idm
        return ([dump.card.idm].compactMap { $0 } + dump.systems.map(\.idm)).contains { $0.isSameCard(as: idm) }
    }

    /// Reads the card. The dump contains what was read before an interruption; its `missing` lists the rest.
    package func dump() -> DumpOutcome {
        let target = session.target
        let identity = CardIdentity(
            technology: .felica, idm: earlier?.card.idm ?? target.idm, pmm: target.pmm,
            bitRate: target.bitRate.rawValue, extra: earlier?.card.extra ?? JSONObject())
        var outcome = DumpOutcome(
            dump: CardDump(card: identity, extra: earlier?.extra ?? JSONObject()), interruption: nil)
        let walk = SystemTraversal(session: session, selection: selection.systems) { code in
            earlier?.system(code).map { SystemHandle(code: code, idm: $0.idm, pmm: $0.pmm) }
        }
        let scanner = CardScanner(session: session, layouts: layouts, progress: progress)
        do throws(ReadingError) {
            try walk.run { system throws(ReadingError) in
                let reading = SystemReading(
                    session: session, scanner: scanner, system: system, card: walk.listed, services: selection.services,
                    earlier: earlierSystem(system), twin: twin(of: system, in: outcome.dump), keyring: keyring,
                    progress: progress)
                defer {
                    outcome.dump.systems.append(reading.dump)
                    if reading.scan.exchanges > 0 { outcome.scans.append(reading.scan) }
                }
                do throws(ReadingError) {
                    try reading.run()
                    outcome.dump.missing += reading.missing(.cardSilent)
                } catch {
                    outcome.dump.missing += reading.missing(error.word)
                    guard error == .cardSilent else { throw error }
                }
            }
            if !outcome.dump.missing.isEmpty { outcome.interruption = .cardSilent }
        } catch {
            outcome.interruption = error
            outcome.dump.missing += walk.unvisited.dropFirst(walk.isVisiting ? 1 : 0).map {
                MissingPart(system: $0, reason: error.word)
            }
            if walk.isListIncomplete { outcome.dump.missing.append(MissingPart(reason: error.word)) }
            outcome.dump.systems += keptSystems(outcome.dump)
        }
        outcome.dump.isComplete = outcome.dump.missing.isEmpty
        return outcome
    }

    /// Returns the system of a FeliCa Lite that was already read: all its systems show the same blocks.
    private func twin(of system: SystemHandle, in dump: CardDump) -> SystemCode? {
        LiteLayout.applies(to: system.pmm) ? dump.systems.first { $0.systemCode != system.code }?.systemCode : nil
    }

    /// Returns the earlier dump's data of a system, if all its nodes were listed.
    private func earlierSystem(_ system: SystemHandle) -> SystemDump? {
        guard let earlier, let found = earlier.system(system.code), found.idm == system.idm,
            !earlier.missing.contains(where: { $0.system == system.code && $0.service == nil })
        else { return nil }
        return found
    }

    /// Returns the systems of the earlier dump that this reading did not reach again.
    private func keptSystems(_ dump: CardDump) -> [SystemDump] {
        (earlier?.systems ?? []).filter { dump.system($0.systemCode) == nil }
    }
}

/// Reads everything of one kind of card that needs no key.
package protocol Dumper {
    /// Returns whether the dump is of the card that this reads.
    func isSameCard(_ dump: CardDump) -> Bool
    /// Reads the card. The dump contains what was read before an interruption; its `missing` lists the rest.
    func dump() -> DumpOutcome
}

/// A dump, and why it ended early if it did.
package struct DumpOutcome: Hashable, Sendable {
    /// Everything that was read; `tool`, `readAt` and `reader` are left to the caller.
    package var dump: CardDump
    /// Why reading ended early.
    package var interruption: ReadingError?
    /// The systems of a FeliCa card whose nodes were listed.
    package var scans: [SystemScan] = []
}

/// The part of a FeliCa card to dump.
public struct DumpSelection: Hashable, Sendable {
    /// Only these systems; `nil` for all.
    public var systems: [SystemCode]?
    /// Only these services; `nil` for all. They are read without listing what else is there.
    public var services: [ServiceCode]?

    /// Selects all or a part of a card.
    public init(systems: [SystemCode]? = nil, services: [ServiceCode]? = nil) {
        self.systems = systems
        self.services = services
    }

    /// The whole card.
    public static let everything = DumpSelection()
}

/// The progress of a long reading.
public struct ReadingProgress: Hashable, Sendable {
    /// The system being read.
    public var system: SystemCode
    /// How many of its nodes are known.
    public var nodes: Int
    /// How many of its blocks were read.
    public var blocks: Int

    package init(system: SystemCode, nodes: Int, blocks: Int) {
        (self.system, self.nodes, self.blocks) = (system, nodes, blocks)
    }
}
