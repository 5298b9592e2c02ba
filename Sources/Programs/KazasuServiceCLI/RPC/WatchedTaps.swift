// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI
import SharedReaders
import KazasuTaps
import Server

/// The taps of the one client of `rpc`: its readers are watched while it subscribes.
final class WatchedTaps: ServiceTaps {
    private let named: [NamedReader]
    private let readers: SharedReaders
    private let redaction: Redaction
    private let log: ServiceLog

    init(_ named: [NamedReader], _ readers: SharedReaders, _ context: Context) {
        (self.named, self.readers, redaction) = (named, readers, context.redaction)
        // Nobody looks at the log of a program that another one started, unless asked for.
        log = ServiceLog(verbosity: context.verbosity > 0 ? 1 : -1)
    }

    func subscribe(
        _ params: JSONObject, _ send: @escaping @Sendable (JSONValue) -> Void
    ) async throws(ServiceFailure) -> @Sendable () async -> Void {
        let plan: Watcher.Plan
        do throws(CommandError) {
            let result = CommandHost.$current.withValue(CommandHost(for: .ofProcess)) {
                Result { () throws(CommandError) in try self.plan(params) }
            }
            plan = try result.get()
        } catch {
            throw .badParameters(error.members)
        }
        let (redaction, log) = (redaction, log)
        // Whether the readers can be watched, as soon as it is known.
        let (starts, start) = AsyncStream.makeStream(of: CommandError?.self, bufferingPolicy: .bufferingOldest(1))
        let watcher = Watcher(
            plan, outbox: nil,
            emit: { event, _ in
                // A card that is not one of those that the client knows.
                guard event.sequence > 0 else { return }
                if redaction.isOn { RedactionGate.shared.learn(event.event.json) }
                send(redaction.apply(event.event))
            },
            tell: { notice in
                log.note(notice, readersAreShown: false)
                if case .reader = notice { start.yield(nil) }
            })
        let task = Task(priority: .medium) {
            do {
                try await watcher.run()
                start.yield(nil)
            } catch {
                start.yield(
                    CommandHost.$current.withValue(CommandHost(for: .ofProcess)) {
                        CommandError.of(error) as? CommandError ?? .bug("\(error)")
                    })
            }
        }
        // Named readers are opened first: an ID that no driver knows is the client's mistake.
        if plan.readers == nil { start.yield(nil) }
        @Sendable func end() async {
            watcher.stop()
            await task.value
        }
        for await error in starts {
            guard let error else { return end }
            throw .failed(error.status, error.members)
        }
        // The request was cancelled.
        await end()
        throw .cancelled
    }

    /// What to watch.
    private func plan(_ params: JSONObject) throws(CommandError) -> Watcher.Plan {
        let parameters = try TapParameters(params)
        let watched = parameters.reader.map { reader in
            [named.first { $0.name == reader } ?? NamedReader(name: reader, id: reader)]
        }
        let readers = watched ?? (named.isEmpty ? nil : named)
        var journal = TapJournal.Settings(site: HostName.current)
        for reader in readers ?? [] { journal.names[reader.id] = reader.name }
        journal.language = Language.current
        journal.reason = { CommandError($0).reason }
        journal.debounce = parameters.debounce
        journal.hidesOthers = parameters.onlyKnown
        journal.known = try parameters.known()
        if redaction.isOn { for name in journal.known.allNames { RedactionGate.shared.learn(text: name) } }
        journal.key = try parameters.idKey.map { source throws(CommandError) in
            IdentityKey(try source.key(tr("the key of idKey", "idKey の鍵")))
        }
        var plan = Watcher.Plan(
            readers: readers?.map(\.id), query: parameters.query, reading: parameters.reading, journal: journal,
            sinks: [])
        plan.proof = try parameters.requireMac.map { source throws(CommandError) in
            TapProof(try LiteKeyOptions.anyKey(source))
        }
        plan.shared = self.readers
        if parameters.reading == .history, let options = try? StationOptions.parse([]) {
            plan.stations = try options.names()
        }
        return plan
    }
}

extension CommandError {
    /// The document `kazasu.error/1`.
    var members: JSONObject {
        if case .object(let members) = json { members } else { JSONObject() }
    }
}
