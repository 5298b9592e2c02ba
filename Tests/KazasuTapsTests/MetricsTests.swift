// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@testable import Kazasu
@testable import KazasuReading
@testable import KazasuTaps

@Suite("Metrics")
struct MetricsTests {
    /// The metrics in the text format of Prometheus (prometheus.io/docs/instrumenting/exposition_formats).
    private struct Exposition {
        var help: [Substring: Substring] = [:]
        var types: [Substring: Substring] = [:]
        var samples: [Substring: Double] = [:]

        init(_ text: String) throws {
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ", maxSplits: 3)
                switch words.first {
                case "#" where words[1] == "HELP":
                    try #require(help.updateValue(words[3], forKey: words[2]) == nil)
                case "#" where words[1] == "TYPE":
                    try #require(help[words[2]] != nil, "\(line)")
                    try #require(types.updateValue(words[3], forKey: words[2]) == nil)
                default:
                    let end = try #require(line.lastIndex(of: " "))
                    let (series, value) = (line[..<end], Double(line[line.index(after: end)...]))
                    let name = series.prefix { $0 != "{" }
                    let family =
                        ["_bucket", "_sum", "_count"].first { name.hasSuffix($0) && types[name] == nil }
                        .map { name.dropLast($0.count) } ?? name
                    try #require(types[family] != nil, "\(line)")
                    try #require(samples.updateValue(try #require(value), forKey: series) == nil, "\(line)")
                }
            }
        }
    }

    private static func status(_ sinks: [Outbox.QueueStatus] = []) -> Outbox.Status {
        Outbox.Status(events: 1, unconfirmed: 0, size: 4096, sinks: sinks, readers: [:])
    }

    @Test("Each metric has a help text and a type, and each series of what is watched exists from the start")
    func complete() throws {
        let metrics = Metrics()
        metrics.expect(readers: ["door", "back"], sinks: ["exec:/a", "mqtt:b"])
        let text = try Exposition(metrics.text(Self.status(), now: 0))
        #expect(Set(text.help.keys) == Set(text.types.keys))
        for reader in ["door", "back"] {
            for name in ["reader_up", "reader_resets_total", "presence_misses_total"] {
                #expect(text.samples["kazasu_\(name){reader=\"\(reader)\"}"] == 0, "\(name)")
            }
            for technology in ["felica", "typeA", "typeB"] {
                #expect(text.samples["kazasu_taps_total{reader=\"\(reader)\",technology=\"\(technology)\"}"] == 0)
            }
        }
        for sink in ["exec:/a", "mqtt:b"] {
            for name in ["sink_failures_total", "sink_dead_total", "outbox_pending", "outbox_oldest_seconds"] {
                #expect(text.samples["kazasu_\(name){sink=\"\(sink)\"}"] == 0, "\(name)")
            }
        }
        #expect(text.samples["kazasu_mqtt_connected"] == 0)
        // promtool: counters end with _total, and nothing else does.
        for (name, type) in text.types { #expect((type == "counter") == name.hasSuffix("_total"), "\(name)") }
        #expect(text.help.values.allSatisfy { $0.hasSuffix(".") })
    }

    @Test("A reader that nobody named has its series once it is ready; a second opening is a reset")
    func unnamed() throws {
        let metrics = Metrics()
        metrics.expect(readers: nil, sinks: [])
        #expect(try Exposition(metrics.text(nil, now: 0)).samples["kazasu_reader_up{reader=\"x\"}"] == nil)
        let resets: Substring = "kazasu_reader_resets_total{reader=\"x\"}"
        for (isReady, expected) in [(false, 0.0), (true, 0), (false, 0), (true, 1)] {
            metrics.reader("x", isReady: isReady)
            let text = try Exposition(metrics.text(nil, now: 0))
            #expect(text.samples[resets] == expected)
            #expect(text.samples["kazasu_reader_up{reader=\"x\"}"] == (isReady ? 1 : 0))
        }
    }

    @Test("A broker stays connected when the settings are read again, and has no series without its sink")
    func broker() throws {
        let metrics = Metrics()
        func value() throws -> Double? {
            try Exposition(metrics.text(nil, now: 0)).samples["kazasu_mqtt_connected"]
        }
        metrics.expect(readers: nil, sinks: ["mqtt:b"])
        metrics.mqtt(isConnected: true)
        metrics.expect(readers: nil, sinks: ["exec:/a", "mqtt:b"])
        #expect(try value() == 1)
        metrics.expect(readers: nil, sinks: ["exec:/a"])
        metrics.mqtt(isConnected: false)
        #expect(try value() == nil)
    }

    @Test("A queue goes back to 0, and the series of a reader end when it is not watched any more")
    func queues() throws {
        let metrics = Metrics()
        metrics.expect(readers: ["door", "back"], sinks: ["exec:/a"])
        let queue = Outbox.QueueStatus(
            sink: "exec:/a", pending: 3, dead: 0, oldest: Timestamp(milliseconds: 1000), attempts: 0)
        let pending: Substring = "kazasu_outbox_pending{sink=\"exec:/a\"}"
        let full = try Exposition(metrics.text(Self.status([queue]), now: 3500))
        #expect((full.samples[pending], full.samples["kazasu_outbox_oldest_seconds{sink=\"exec:/a\"}"]) == (3, 2.5))
        metrics.expect(readers: ["back"], sinks: ["exec:/a"])
        let empty = try Exposition(metrics.text(Self.status(), now: 3500))
        #expect(empty.samples[pending] == 0)
        #expect(!empty.samples.keys.contains { $0.contains("door") })
    }
}
