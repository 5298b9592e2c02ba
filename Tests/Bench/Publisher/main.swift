// SPDX-License-Identifier: Apache-2.0

import Glibc
import KazasuTaps
import MQTT
import Synchronization

// Publishes the events of many sites with the sink of `watch`, each site on its own connection, and keeps each event
// until the collector has acknowledged it. Prints one line of JSON at the end.
//
// site-publisher HOST PORT SITES READERS RATE SECONDS BACKLOG [PREFIX [VERSION]]
//
// RATE: events a second of all sites together. BACKLOG: events that each reader has from before.

let words = CommandLine.arguments.dropFirst()
let numbers = words.dropFirst().prefix(6).compactMap { Double($0) }
guard let host = words.first, numbers.count == 6, let port = UInt16(exactly: numbers[0]) else { exit(64) }
let (siteCount, readerCount, rate) = (Int(numbers[1]), Int(numbers[2]), numbers[3])
let (seconds, backlog) = (numbers[4], Int(numbers[5]))
let prefix = words.dropFirst(7).first ?? "site"
let version = words.dropFirst(8).first.flatMap { MQTTBroker.Version(rawValue: $0) } ?? .v5

/// What one reader has to publish.
final class Feed: Sendable {
    struct State {
        var next = 1
        var acknowledged = 0
        var resent = 0
    }

    let site: String
    let reader: String
    let index: Int
    let state = Mutex(State())

    init(site: String, reader: String, index: Int) {
        (self.site, self.reader, self.index) = (site, reader, index)
    }

    /// The same number gives the same event, so that nothing has to be kept.
    func event(_ sequence: Int, since base: Int) -> StoredEvent {
        func hex(_ value: Int, _ count: Int) -> String {
            let text = String(value, radix: 16)
            return String(repeating: "0", count: max(0, count - text.count)) + text.suffix(count)
        }
        let time = hex(base + sequence, 12)
        let id =
            "\(time.prefix(8))-\(time.suffix(4))-7\(hex(index, 5).prefix(3))-8\(hex(index, 3))-\(hex(sequence, 12))"
        let line =
            #"{"schema":"kazasu.tap/1","id":"\#(id)","seq":\#(sequence),"type":"on","#
            + #""at":"2026-11-21T20:45:00.123+09:00","mono":123456789,"clock":"synchronised","site":"\#(site)","#
            + #""reader":"\#(reader)","technology":"felica","system":"0003","tag":"0114B34DAA012345","identity":"fixed"}"#
        guard let event = try? StoredEvent(parsing: line) else { preconditionFailure("\(line)") }
        return event
    }

    func acknowledge(_ one: Acknowledgement) {
        state.withLock { state in
            state.acknowledged = max(state.acknowledged, one.upTo)
            if one.isRepeated, state.next > one.upTo + 1 {
                state.resent += state.next - one.upTo - 1
                state.next = one.upTo + 1
            }
        }
    }
}

let clock = ContinuousClock()
let base = EventClock.system.now().wall - 1_000_000_000
let total = backlog + Int(rate * seconds) / max(1, siteCount * readerCount)
let start = clock.now

/// How many events a reader has by now.
@Sendable func produced() -> Int {
    let elapsed = (clock.now - start) / .seconds(1)
    return min(total, backlog + Int(elapsed * rate / Double(max(1, siteCount * readerCount))))
}

/// Publishes until every event is acknowledged by the collector.
@Sendable func run(site number: Int) async -> [String: Int] {
    let site = "\(prefix)\(number)"
    let feeds = (0..<readerCount).map { Feed(site: site, reader: "reader\($0)", index: number * readerCount + $0) }
    let settings = MQTTSink.Settings(broker: MQTTBroker(host: host, port: port, version: version), site: site)
    let sink = MQTTSink(settings)
    let acknowledgements = Task {
        for await one in sink.acknowledgements { feeds.first { $0.reader == one.reader }?.acknowledge(one) }
    }
    await withTaskGroup(of: Void.self) { group in
        for feed in feeds {
            group.addTask {
                while feed.state.withLock({ $0.acknowledged }) < total {
                    let first = feed.state.withLock { $0.next }
                    let last = min(produced(), first + sink.window - 1)
                    guard last >= first else {
                        try? await Task.sleep(for: .milliseconds(20))
                        continue
                    }
                    let results = await sink.deliver((first...last).map { feed.event($0, since: base) })
                    let delivered = results.prefix { $0 == .delivered }.count
                    // An acknowledgement may have asked for earlier ones meanwhile.
                    feed.state.withLock { if $0.next == first { $0.next += delivered } }
                    if case .retry(_, let pause)? = results.first(where: { $0 != .delivered }) {
                        try? await Task.sleep(for: pause ?? .seconds(1))
                    }
                }
            }
        }
    }
    let counters = sink.counters
    await sink.close()
    acknowledgements.cancel()
    return [
        "published": counters.published, "retried": counters.retried, "connections": counters.connections,
        "resent": feeds.reduce(0) { $0 + $1.state.withLock { $0.resent } },
    ]
}

let sums = await withTaskGroup(of: [String: Int].self) { group in
    for site in 0..<siteCount { group.addTask { await run(site: site) } }
    var sums: [String: Int] = [:]
    for await part in group { sums.merge(part, uniquingKeysWith: +) }
    return sums
}
let elapsed = (clock.now - start) / .milliseconds(1)
let members = sums.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
print(
    "{\"events\":\(total * siteCount * readerCount),\"milliseconds\":\(Int(elapsed)),\(members.joined(separator: ","))}"
)
