// SPDX-License-Identifier: Apache-2.0

package import CardModel
internal import FeliCa
internal import NFCTransport

/// Reads every block of a FeliCa card that needs no key, system by system, and goes on with a dump that was
/// interrupted.
package struct CardDumper {
    private let session: CardSession
    private let selection: DumpSelection
    private let earlier: CardDump?
    private let progress: (ReadingProgress) -> Void

    /// A dumper of the card in this session.
    ///
    /// - Parameter earlier: an incomplete dump of the same card; what it holds is not read again.
    package init(
        session: CardSession, selection: DumpSelection = .everything, resuming earlier: CardDump? = nil,
        progress: @escaping (ReadingProgress) -> Void = { _ in }
    ) {
        self.session = session
        self.selection = selection
        self.earlier = earlier
        self.progress = progress
    }

    /// The dump, and why it ended early if it did.
    package struct Result: Hashable, Sendable {
        /// All that was read; `tool`, `readAt` and `reader` are left to the caller.
        package var dump: CardDump
        /// Why reading ended before its end.
        package var interruption: ReadingError?
    }

    /// Whether `dump` is of the card in this session: one of its systems, or the card itself, has this IDm.
    package static func isSameCard(_ dump: CardDump, _ session: CardSession) -> Bool {
        let idm = session.target.idm
        return ([dump.card.idm].compactMap { $0 } + dump.systems.map(\.idm)).contains { $0.isSameCard(as: idm) }
    }

    /// Reads the card; what was read before an interruption is in the dump, and what was not is in its `missing`.
    package func dump() -> Result {
        let target = session.target
        let identity = CardIdentity(
            technology: .felica, idm: earlier?.card.idm ?? target.idm, pmm: target.pmm,
            bitRate: target.bitRate.rawValue, extra: earlier?.card.extra ?? JSONObject())
        var outcome = Result(
            dump: CardDump(card: identity, extra: earlier?.extra ?? JSONObject()), interruption: nil)
        let walk = CardWalk(session: session, selection: selection.systems) { code in
            earlier?.system(code).map { SystemHandle(code: code, idm: $0.idm, pmm: $0.pmm) }
        }
        do throws(ReadingError) {
            try walk.run { system throws(ReadingError) in
                let reading = SystemReading(
                    session: session, system: system, services: selection.services,
                    earlier: earlierSystem(system), twin: twin(of: system, in: outcome.dump), progress: progress)
                defer {
                    outcome.dump.systems.append(reading.dump)
                }
                do throws(ReadingError) {
                    try reading.run()
                } catch {
                    outcome.dump.missing += reading.missing(error.word)
                    throw error
                }
            }
        } catch {
            outcome.interruption = error
            outcome.dump.missing += walk.unvisited.dropFirst(walk.isVisiting ? 1 : 0).map {
                MissingPart(system: $0, reason: error.word)
            }
            if walk.isListIncomplete { outcome.dump.missing.append(MissingPart(reason: error.word)) }
            outcome.dump.systems += keptSystems(outcome.dump)
        }
        outcome.dump.complete = outcome.dump.missing.isEmpty
        return outcome
    }

    /// The system of a FeliCa Lite that was read already: all its systems show the same blocks.
    private func twin(of system: SystemHandle, in dump: CardDump) -> SystemCode? {
        LiteLayout.applies(to: system.pmm) ? dump.systems.first { $0.systemCode != system.code }?.systemCode : nil
    }

    /// What the earlier dump holds of a system, if all its nodes were listed.
    private func earlierSystem(_ system: SystemHandle) -> SystemDump? {
        guard let earlier, let found = earlier.system(system.code), found.idm == system.idm,
            !earlier.missing.contains(where: { $0.system == system.code && $0.service == nil })
        else { return nil }
        return found
    }

    /// The systems of the earlier dump that this reading did not come to again.
    private func keptSystems(_ dump: CardDump) -> [SystemDump] {
        (earlier?.systems ?? []).filter { dump.system($0.systemCode) == nil }
    }
}

/// Which part of a card a dump is to hold.
package struct DumpSelection: Hashable, Sendable {
    /// Only these systems; `nil` for all.
    package var systems: [SystemCode]?
    /// Only these services; `nil` for all. They are read without listing what else is there.
    package var services: [ServiceCode]?

    /// All, or a part of a card.
    package init(systems: [SystemCode]? = nil, services: [ServiceCode]? = nil) {
        self.systems = systems
        self.services = services
    }

    /// The whole card.
    package static let everything = DumpSelection()
}

/// How far a long reading has come.
package struct ReadingProgress: Hashable, Sendable {
    /// The system that is being read.
    package var system: SystemCode
    /// How many nodes of it are known.
    package var nodes: Int
    /// How many blocks of it were read.
    package var blocks: Int
}
