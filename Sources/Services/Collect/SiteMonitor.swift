// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// What a collector reports.
package enum CollectReport: Hashable, Sendable {
    /// The events `from` to `to` of a reader are missing and were given up.
    case gap(CollectedEvent.Source, from: Int, to: Int)
    /// An event that was given up arrived and is stored.
    case late(CollectedEvent.Source, sequence: Int)
    /// A reader counts from this number again: its outbox was lost, or it has none.
    case restart(CollectedEvent.Source, sequence: Int)
    /// Nothing was heard from a site for this number of seconds. It has its name as in topics as long as no event was stored.
    case silent(site: String, seconds: Int)
    /// A silent site is back.
    case returned(site: String)
    /// A message was not stored.
    case malformed(topic: String, CollectedEvent.Malformed)
}

extension CollectReport {
    /// The document `kazasu.collect/1`.
    package func json(at time: Timestamp) -> JSONValue {
        var members: [(String, JSONValue)] = [("schema", "kazasu.collect/1")]
        switch self {
        case .gap(let source, let from, let to):
            members += [("event", "gap")] + source.members + [("from", .int(from)), ("to", .int(to))]
        case .late(let source, let sequence):
            members += [("event", "late")] + source.members + [("seq", .int(sequence))]
        case .restart(let source, let sequence):
            members += [("event", "restart")] + source.members + [("seq", .int(sequence))]
        case .silent(let site, let seconds):
            members += [("event", "silent"), ("site", .string(site)), ("seconds", .int(seconds))]
        case .returned(let site): members += [("event", "returned"), ("site", .string(site))]
        case .malformed(let topic, let reason):
            members += [("event", "malformed"), ("topic", .string(topic)), ("reason", .string(reason.rawValue))]
        }
        return .object(JSONObject(members + [("at", .string(time.text(.local, .seconds)))]))
    }
}

extension CollectedEvent.Source {
    fileprivate var members: [(String, JSONValue)] { [("site", .string(site)), ("reader", .string(reader))] }
}

/// Detects lasting gaps and silent sites. The caller passes the time.
struct SiteMonitor {
    private struct Gap {
        var from: Int
        var since: ContinuousClock.Instant
    }

    let gapLimit: Duration
    let silenceLimit: Duration
    private var gaps: [CollectedEvent.Source: Gap] = [:]
    private var progress: [CollectedEvent.Source: ReaderProgress] = [:]
    private var heard: [String: ContinuousClock.Instant] = [:]
    private var silent: Set<String> = []
    /// The names of sites by those in topics.
    private var names: [String: String] = [:]
    private var isOnline = false

    init(gapLimit: Duration, silenceLimit: Duration) {
        self.gapLimit = gapLimit
        self.silenceLimit = silenceLimit
    }

    /// Sets whether the broker can be reached; while it cannot, no site counts as silent.
    mutating func setOnline(_ isOnline: Bool, at now: ContinuousClock.Instant) {
        if isOnline, !self.isOnline {
            for site in heard.keys { heard[site] = now }
            for source in gaps.keys { gaps[source]?.since = now }
        }
        self.isOnline = isOnline
    }

    /// Adds a site of an earlier run.
    mutating func expect(site: String, at now: ContinuousClock.Instant) {
        heard[site] = heard[site] ?? now
    }

    /// Notes a message from a site.
    mutating func hear(site: String, at now: ContinuousClock.Instant) -> [CollectReport] {
        heard[site] = now
        return silent.remove(site) == nil ? [] : [.returned(site: names[site] ?? site)]
    }

    /// Notes that events of a reader were stored.
    mutating func store(_ reader: ReaderProgress, at now: ContinuousClock.Instant) -> [CollectReport] {
        progress[reader.source] = reader
        names[reader.topicSite] = reader.source.site
        if reader.afterGap == nil {
            gaps[reader.source] = nil
        } else if gaps[reader.source]?.from != reader.upTo + 1 {
            gaps[reader.source] = Gap(from: reader.upTo + 1, since: now)
        }
        return reader.hasRestarted ? [.restart(reader.source, sequence: reader.upTo)] : []
    }

    /// The readers with a gap: their acknowledgement is repeated, which asks for the missing events.
    var withGaps: [ReaderProgress] { gaps.keys.sorted().compactMap { progress[$0] } }

    /// Readers whose gap has reached the limit while their site was online.
    func overdue(at now: ContinuousClock.Instant) -> [CollectedEvent.Source] {
        guard isOnline else { return [] }
        return gaps.filter { source, gap in
            now - gap.since >= gapLimit && progress[source].map { isHeard($0.topicSite, at: now) } == true
        }.keys.sorted()
    }

    private func isHeard(_ site: String, at now: ContinuousClock.Instant) -> Bool {
        heard[site].map { now - $0 < silenceLimit } ?? false
    }

    /// Sites that have become silent.
    mutating func silences(at now: ContinuousClock.Instant) -> [CollectReport] {
        guard isOnline else { return [] }
        var reports: [CollectReport] = []
        for (site, time) in heard.sorted(by: { $0.key < $1.key }) where now - time >= silenceLimit {
            if silent.insert(site).inserted {
                reports.append(.silent(site: names[site] ?? site, seconds: Int((now - time).components.seconds)))
            }
        }
        return reports
    }
}
