// SPDX-License-Identifier: Apache-2.0

internal import Kazasu
internal import Synchronization

/// Counters and gauges of the watcher for Prometheus, and when each reader last showed progress.
package final class Metrics: Sendable {
    private struct State {
        /// By reader and technology.
        var taps: [String: [String: Int]] = [:]
        /// How many reads took at most so many seconds.
        var reads = [Int](repeating: 0, count: Metrics.limits.count + 1)
        var readSeconds = 0.0
        var readers: [String: Bool] = [:]
        var resets: [String: Int] = [:]
        var misses: [String: Int] = [:]
        var failures: [String: Int] = [:]
        var dead: [String: Int] = [:]
        /// The current sinks.
        var sinks: [String] = []
        /// `nil` without such a sink.
        var isMQTTConnected: Bool?
        var beats: [String: ContinuousClock.Instant] = [:]

        mutating func expect(_ reader: String) {
            readers[reader] = readers[reader] ?? false
            resets[reader, default: 0] += 0
            misses[reader, default: 0] += 0
            for technology in Technology.allCases {
                taps[reader, default: [:]][technology.rawValue, default: 0] += 0
            }
        }
    }

    private static let limits = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
    private let state = Mutex(State())

    package init() {}

    /// Creates the series of these readers and sinks, so that each counter starts at 0; removes those of readers that are
    /// no longer watched.
    ///
    /// - Parameter readers: `nil` for every reader, each of which has its series once it is ready.
    func expect(readers: [String]?, sinks: [String]) {
        state.withLock { state in
            if let readers {
                for reader in state.readers.keys where !readers.contains(reader) {
                    state.readers[reader] = nil
                    state.taps[reader] = nil
                    state.resets[reader] = nil
                    state.misses[reader] = nil
                    state.beats[reader] = nil
                }
                for reader in readers { state.expect(reader) }
            }
            state.sinks = sinks
            let hasMQTT = sinks.contains { $0.hasPrefix("mqtt:") }
            state.isMQTTConnected = hasMQTT ? state.isMQTTConnected ?? false : nil
            for sink in sinks {
                state.failures[sink, default: 0] += 0
                state.dead[sink, default: 0] += 0
            }
        }
    }

    func note(_ progress: ReaderWatch.Progress, on reader: String) {
        state.withLock { state in
            switch progress {
            case .looking: state.beats[reader] = .now
            case .missed: state.misses[reader, default: 0] += 1
            }
        }
    }

    /// Whether every reader that is ready has answered within this time.
    package func isAlive(within time: Duration) -> Bool {
        state.withLock { state in
            state.readers.filter(\.value).keys.allSatisfy { state.beats[$0].map { .now - $0 <= time } ?? true }
        }
    }

    /// The number of readers that are ready.
    package var readersReady: Int { state.withLock { $0.readers.values.count { $0 } } }

    func tap(_ tap: Tap, on reader: String) {
        let seconds = tap.time.duration(to: .now) / .seconds(1)
        state.withLock { state in
            state.taps[reader, default: [:]][tap.card.technology.rawValue, default: 0] += 1
            state.reads[Self.limits.firstIndex { seconds <= $0 } ?? Self.limits.count] += 1
            state.readSeconds += seconds
        }
    }

    func reader(_ id: String, isReady: Bool) {
        state.withLock { state in
            if isReady, state.beats[id] != nil { state.resets[id, default: 0] += 1 }
            state.expect(id)
            state.readers[id] = isReady
            if isReady { state.beats[id] = .now }
        }
    }

    func note(_ notice: SinkNotice) {
        state.withLock { state in
            switch notice {
            case .failing(let sink, _): state.failures[sink, default: 0] += 1
            case .dead(let sink, _, _): state.dead[sink, default: 0] += 1
            case .recovered, .outbox: break
            }
        }
    }

    /// Notes whether a sink is connected to its broker.
    package func mqtt(isConnected: Bool) {
        // The sink of an earlier plan may still work.
        state.withLock { state in if state.isMQTTConnected != nil { state.isMQTTConnected = isConnected } }
    }

    /// One line of a metric: its labels and its value.
    private typealias Sample = (labels: [(String, String)], value: String)

    /// The text format of Prometheus, version 0.0.4.
    package func text(_ outbox: Outbox.Status?, now: Int) -> String {
        let state = state.withLock { $0 }
        var text = ""
        func family(_ name: String, _ type: String, _ help: String, _ samples: [Sample]) {
            text += "# HELP kazasu_\(name) \(help)\n# TYPE kazasu_\(name) \(type)\n"
            for sample in samples {
                let labels = sample.labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
                text += "kazasu_\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(sample.value)\n"
            }
        }
        func counts(_ name: String, _ type: String, _ help: String, _ label: String, _ values: [String: Int]) {
            family(name, type, help, values.sorted { $0.key < $1.key }.map { ([(label, $0.key)], "\($0.value)") })
        }
        let taps = state.taps.sorted { $0.key < $1.key }.flatMap { reader, counts in
            counts.sorted { $0.key < $1.key }.map { technology, count -> Sample in
                ([("reader", reader), ("technology", technology)], "\(count)")
            }
        }
        family("taps_total", "counter", "Cards placed on a reader.", taps)
        text += "# HELP kazasu_tap_read_seconds Time from finding a card to having read it.\n"
        text += "# TYPE kazasu_tap_read_seconds histogram\n"
        var sum = 0
        for (limit, count) in zip(Self.limits.map { "\($0)" } + ["+Inf"], state.reads) {
            sum += count
            text += "kazasu_tap_read_seconds_bucket{le=\"\(limit)\"} \(sum)\n"
        }
        text += "kazasu_tap_read_seconds_sum \(state.readSeconds)\nkazasu_tap_read_seconds_count \(sum)\n"
        counts("reader_up", "gauge", "Whether the reader is ready.", "reader", state.readers.mapValues { $0 ? 1 : 0 })
        counts("reader_resets_total", "counter", "How often the reader had to be opened again.", "reader", state.resets)
        counts(
            "presence_misses_total", "counter", "Presence checks that the card on the reader did not answer.", "reader",
            state.misses)
        counts("sink_failures_total", "counter", "How often deliveries began to fail.", "sink", state.failures)
        counts("sink_dead_total", "counter", "Events that the sink refused for good.", "sink", state.dead)
        if let outbox {
            family("outbox_events", "gauge", "Events in the outbox.", [([], "\(outbox.events)")])
            family("outbox_bytes", "gauge", "Size of the outbox in bytes.", [([], "\(outbox.size)")])
            let queues = Dictionary(outbox.sinks.map { ($0.sink, $0) }) { first, _ in first }
            let sinks = Set(state.sinks).union(queues.keys).sorted()
            family(
                "outbox_pending", "gauge", "Events that wait for the sink.",
                sinks.map { ([("sink", $0)], "\(queues[$0]?.pending ?? 0)") })
            family(
                "outbox_oldest_seconds", "gauge", "Age of the oldest event that waits for the sink.",
                sinks.map {
                    ([("sink", $0)], "\(Double(max(0, now - (queues[$0]?.oldest?.milliseconds ?? now))) / 1000)")
                })
        }
        if let isConnected = state.isMQTTConnected {
            family("mqtt_connected", "gauge", "Whether the MQTT broker is connected.", [([], isConnected ? "1" : "0")])
        }
        return text
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
