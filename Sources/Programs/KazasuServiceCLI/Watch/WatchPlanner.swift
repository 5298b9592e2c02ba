// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI
import SharedReaders
import KazasuTaps

/// Turns settings into a plan; some of it, such as the sinks, needs what lives as long as the command.
struct WatchPlanner {
    let outbox: Outbox?
    let metrics: Metrics
    let log: ServiceLog
    let isRedacted: Bool
    /// Lets programs use the readers between two presence checks.
    let shared: SharedReaders
    /// Whether there are such programs even without `--bridge`.
    let sharesReaders: Bool
    /// GPIO lines: requested when a plan is made, released when another plan replaces it.
    let lines = GPIOLines()

    func plan<Options>(
        for settings: WatchSettings<Options>
    ) throws(CommandError) -> (plan: RunPlan, watch: Watcher.Plan) {
        let options = settings.options
        let readers = options.readers
        let bridges = try options.bridge.settings(of: readers)
        var journal = TapJournal.Settings(site: options.cards.site ?? HostName.current)
        for reader in readers { journal.names[reader.id] = reader.name }
        journal.key = try options.cards.idKey.map { source throws(CommandError) in
            IdentityKey(try source.key(tr("the key of --id-key", "--id-key の鍵")))
        }
        journal.debounce = .seconds(options.cards.debounce ?? 0)
        if let only = options.basics.only {
            journal.known = try KnownCardsFile.read(only)
            for name in journal.known.allNames { RedactionGate.shared.learn(text: name, isLasting: true) }
        }
        journal.hidesOthers = options.basics.onlyKnown
        journal.omitsKnownRecords = outbox != nil && options.omitsKnownRecords
        journal.language = Language.current
        journal.reason = { CommandError($0).reason }
        var sinks: [SinkFactory] = []
        if let outbox {
            sinks = try options.makeSinks(
                SinkEnvironment(
                    site: journal.site, readers: readers.map(\.name), readsBalances: options.reading != .id,
                    key: journal.key, words: settings.words, outbox: outbox, metrics: metrics, log: log,
                    isRedacted: isRedacted))
        }
        var plan = Watcher.Plan(
            readers: readers.isEmpty ? nil : readers.map(\.id), query: options.query, reading: options.reading,
            journal: journal, sinks: sinks, retention: options.outbox.retention)
        plan.proof = try options.cards.requireMac.map { source throws(CommandError) in
            TapProof(try LiteKeyOptions.anyKey(source))
        }
        plan.isQuiet = options.answers.quietReader
        if sharesReaders || !bridges.isEmpty || options.answers.usesReaders { plan.shared = shared }
        if options.reading == .history { plan.stations = try options.stationOptions.names() }
        // Last, so that settings that are wrong hold no lines.
        if let asker = try options.answers.asker() {
            let lights = ReaderLights(shared, try options.answers.outputs(lines), lines: lines) {
                [log] reader, failure in
                log.note(failure, at: reader)
            }
            let limit = options.answers.limit
            plan.answering = Answering(asker, within: limit) { reader, verdict, isCurrent in
                await lights.show(ReaderSignal(verdict), at: reader, while: isCurrent)
            }
        }
        let run = RunPlan(
            readers: readers, bridges: bridges, watch: plan, ledger: options.sinks.place.ledger,
            lights: options.answers.gpioLights, leds: options.answers.leds)
        return (run, plan)
    }
}
