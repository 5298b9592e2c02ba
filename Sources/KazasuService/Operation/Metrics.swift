// SPDX-License-Identifier: Apache-2.0

internal import FlyingFox
internal import FlyingSocks
internal import FoundationEssentials
internal import Glibc
internal import Kazasu
internal import Synchronization

/// What the watcher counts, as Prometheus reads it, and when its readers were heard of last.
package final class Metrics: Sendable {
    private struct State {
        var taps: [[String]: Int] = [:]
        /// How many reads took at most so many seconds.
        var reads = [Int](repeating: 0, count: Metrics.limits.count + 1)
        var readSeconds = 0.0
        var readers: [String: Bool] = [:]
        var resets: [String: Int] = [:]
        var misses: [String: Int] = [:]
        var failures: [String: Int] = [:]
        var dead: [String: Int] = [:]
        var gauges: [String: Int] = [:]
        var beats: [String: ContinuousClock.Instant] = [:]
    }

    private static let limits = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
    private let state = Mutex(State())

    package init() {}

    func note(_ progress: ReaderWatch.Progress, on reader: String) {
        state.withLock { state in
            switch progress {
            case .looking: state.beats[reader] = .now
            case .missed: state.misses[reader, default: 0] += 1
            }
        }
    }

    /// Whether each reader that is ready has answered within this time.
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
            state.taps[[reader, tap.card.technology.rawValue], default: 0] += 1
            state.reads[Self.limits.firstIndex { seconds <= $0 } ?? Self.limits.count] += 1
            state.readSeconds += seconds
        }
    }

    func reader(_ id: String, isReady: Bool) {
        state.withLock { state in
            if isReady, state.readers[id] != nil { state.resets[id, default: 0] += 1 }
            state.readers[id] = isReady
            if isReady { state.beats[id] = .now }
        }
    }

    func note(_ notice: SinkQueue.Notice) {
        state.withLock { state in
            switch notice {
            case .failing(let sink, _): state.failures[sink, default: 0] += 1
            case .dead(let sink, _, _): state.dead[sink, default: 0] += 1
            case .recovered, .outbox: break
            }
        }
    }

    /// Sets a gauge that a sink keeps, such as `mqtt_connected`.
    package func set(_ gauge: String, _ value: Int) { state.withLock { $0.gauges[gauge] = value } }

    /// The text format of Prometheus, version 0.0.4.
    package func text(_ outbox: Outbox.Status?, now: Int) -> String {
        let state = state.withLock { $0 }
        var text = ""
        func family(_ name: String, _ type: String, _ samples: [(labels: [(String, String)], value: String)]) {
            guard !samples.isEmpty else { return }
            text += "# TYPE kazasu_\(name) \(type)\n"
            for sample in samples {
                let labels = sample.labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
                text += "kazasu_\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(sample.value)\n"
            }
        }
        func counts(_ name: String, _ type: String, _ label: String, _ values: [String: Int]) {
            family(name, type, values.sorted { $0.key < $1.key }.map { ([(label, $0.key)], "\($0.value)") })
        }
        family(
            "taps_total", "counter",
            state.taps.sorted { $0.key.joined() < $1.key.joined() }.map { labels, count in
                (Array(zip(["reader", "technology"], labels)), "\(count)")
            })
        text += "# TYPE kazasu_tap_read_seconds histogram\n"
        var sum = 0
        for (limit, count) in zip(Self.limits.map { "\($0)" } + ["+Inf"], state.reads) {
            sum += count
            text += "kazasu_tap_read_seconds_bucket{le=\"\(limit)\"} \(sum)\n"
        }
        text += "kazasu_tap_read_seconds_sum \(state.readSeconds)\nkazasu_tap_read_seconds_count \(sum)\n"
        counts("reader_up", "gauge", "reader", state.readers.mapValues { $0 ? 1 : 0 })
        counts("reader_resets_total", "counter", "reader", state.resets)
        counts("presence_misses_total", "counter", "reader", state.misses)
        counts("sink_failures_total", "counter", "sink", state.failures)
        counts("sink_dead_total", "counter", "sink", state.dead)
        if let outbox {
            family("outbox_events", "gauge", [([], "\(outbox.events)")])
            family("outbox_bytes", "gauge", [([], "\(outbox.size)")])
            family("outbox_pending", "gauge", outbox.sinks.map { ([("sink", $0.sink)], "\($0.pending)") })
            family(
                "outbox_oldest_seconds", "gauge",
                outbox.sinks.map { ([("sink", $0.sink)], "\(Double(max(0, now - ($0.oldest ?? now))) / 1000)") })
        }
        for (name, value) in state.gauges.sorted(by: { $0.key < $1.key }) {
            family(name, "gauge", [([], "\(value)")])
        }
        return text
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}

/// `--metrics 127.0.0.1:PORT`: the metrics over HTTP, on the loopback interface.
package struct MetricsServer: Sendable {
    private let server: HTTPServer

    /// - Parameter text: makes the answer.
    package init(port: UInt16, text: @escaping @Sendable () -> String) async throws {
        server = HTTPServer(address: try sockaddr_in.inet(ip4: "127.0.0.1", port: port), logger: .disabled)
        await server.appendRoute("GET /metrics") { _ in
            HTTPResponse(
                statusCode: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: Data(text().utf8))
        }
    }

    /// Serves until the task is cancelled.
    ///
    /// - Throws: the error of the socket, as when the port is in use.
    package func run() async throws { try await server.run() }
}
