// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI
import KazasuService
import Synchronization

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
    ) async throws(ServiceFailure) -> any TapSubscription {
        let plan: Watcher.Plan
        do throws(CommandError) {
            plan = try self.plan(params)
        } catch {
            throw .badParameters(error.members)
        }
        let (redaction, log) = (redaction, log)
        let start = Start()
        let watcher = Watcher(
            plan, outbox: nil,
            emit: { event, _ in
                if redaction.isOn { RedactionGate.shared.learn(json: Array(event.line.utf8)) }
                var masked = event
                masked.rename { redaction.apply($0) }
                send(redaction.apply(masked.json))
            },
            tell: { notice in
                log.note(notice, readersAreShown: false)
                if case .reader = notice { start.begin() }
            })
        let task = Task {
            do {
                try await watcher.run()
                start.begin()
            } catch {
                start.begin(CommandError.of(error) as? CommandError ?? .bug("\(error)"))
            }
        }
        // Named readers are opened first: an ID that no driver knows is the client's mistake.
        if plan.readers == nil { start.begin() }
        if let error = await start.error {
            throw .failed(status: error.status.rawValue, error.members)
        }
        return Watching(watcher: watcher, task: task)
    }

    private struct Watching: TapSubscription {
        let watcher: Watcher
        let task: Task<Void, Never>

        func cancel() async {
            watcher.stop()
            await task.value
        }
    }

    /// What to watch, by the parameters `read` and `reader`.
    private func plan(_ params: JSONObject) throws(CommandError) -> Watcher.Plan {
        var reading = TapReading.id
        var watched = named.isEmpty ? nil : named
        for member in params.members {
            switch (member.key, member.value) {
            case (_, .null): continue
            case ("read", .string(let word)):
                guard let value = WatchBasics.Reading(rawValue: word) else {
                    throw .wrong(tr("read is id, balance or history", "read は id、balance、history のいずれかです"))
                }
                reading = value.value
            case ("reader", .string(let reader)):
                watched = [named.first { $0.name == reader } ?? NamedReader(name: reader, id: reader)]
            default: throw .wrong(tr("unknown parameter '\(member.key)'", "'\(member.key)' というパラメーターはありません"))
            }
        }
        var journal = TapJournal.Settings(site: HostName.current)
        for reader in watched ?? [] { journal.names[reader.id] = reader.name }
        journal.language = Language.current
        journal.reason = { CommandError($0).reason }
        var plan = Watcher.Plan(
            readers: watched?.map(\.id), query: .any, reading: reading, journal: journal, sinks: [])
        plan.shared = readers
        if reading == .history { plan.stations = try StationOptions().names() }
        return plan
    }

    /// Waits until it is known whether the readers can be watched.
    private final class Start: Sendable {
        private let state = Mutex<(error: CommandError??, waiter: CheckedContinuation<CommandError?, Never>?)>(
            (nil, nil))

        func begin(_ error: CommandError? = nil) {
            let waiter = state.withLock { state -> CheckedContinuation<CommandError?, Never>? in
                guard state.error == nil else { return nil }
                state.error = .some(error)
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume(returning: error)
        }

        var error: CommandError? {
            get async {
                await withCheckedContinuation { continuation in
                    let known = state.withLock { state -> CommandError?? in
                        if state.error == nil { state.waiter = continuation }
                        return state.error
                    }
                    if let known { continuation.resume(returning: known) }
                }
            }
        }
    }
}

extension CommandError {
    /// A parameter is wrong.
    static func wrong(_ message: String) -> CommandError { CommandError(.usage, "usage", message) }

    /// The document `kazasu.error/1`.
    var members: JSONObject {
        if case .object(let members) = json { members } else { JSONObject() }
    }
}
