// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import FeliCa
internal import ReaderCore

/// How long the questions about a system's nodes are expected to take: on air, in the card, and on the line.
///
/// A frame has 10 bytes besides its packet, and a byte takes 37.76 µs at 212 kbit/s. The PMm gives limits only; until the
/// card's own time has been measured, it is expected to take a tenth of them, on the line of a PN532 at 921600 baud.
/// `Docs/performance.md` has the model.
///
/// It decides which questions a scan asks, and never what it finds.
struct ExchangeTime: Hashable, Sendable {
    /// Search Service Code: 12 bytes, and 14 in the answer.
    let search: Duration
    /// How many times as long as expected a node takes, as far as was measured.
    let scale: Double
    /// Request Service: what each node adds, two bytes in the command and two in the answer.
    let node: Duration
    /// Request Service besides its nodes: 11 bytes, and 11 in the answer.
    let command: Duration

    /// Read Without Encryption besides its blocks, of one service: 14 bytes, and 13 in the answer.
    let read: Duration
    /// What each block adds to it: two bytes in the command and 16 in the answer.
    let block: Duration

    /// Preamble, synchronization code and checksum of a frame.
    static let frame = 10
    /// What the host's command, its acknowledgement and its answer have besides the packets, in bytes.
    private static let host = 25
    /// A byte on the line: ten bits.
    private static let lineByte = Duration.nanoseconds(10_851)
    static let cardShare = 10

    /// A byte on air.
    static func airByte(_ bitRate: FeliCaBitRate) -> Duration {
        .nanoseconds(bitRate == .kbps424 ? 18_879 : 37_758)
    }

    /// The bytes of a Polling and its answer, whose time on the line is in the overhead.
    private static let polling = 24
    /// What an exchange takes on the line besides the bytes by which it is longer than a Polling.
    static let usualOverhead = lineByte * (host + polling)

    /// The time of an exchange's packets on the line, besides ``usualOverhead``.
    static func line(_ bytes: Int) -> Duration { lineByte * (bytes - polling) }

    /// - Parameter pace: what was measured of this card.
    init(_ pmm: PMm, at bitRate: FeliCaBitRate, _ pace: CardPace = CardPace()) {
        let limits = ResponseTime(pmm)
        let airByte = Self.airByte(bitRate)
        func exchange(_ bytes: Int) -> Duration {
            airByte * (bytes + 2 * Self.frame) + Self.line(bytes) + (pace.overhead ?? Self.usualOverhead)
        }
        func card(_ kind: ResponseTime.CommandClass, units: Int = 0) -> Duration {
            limits.maximum(kind, units: units) / Self.cardShare * pace.factor(of: kind)
        }
        search = exchange(26) + card(.fixed)
        command = exchange(22) + card(.variable)
        let air = (airByte + Self.lineByte) * 4
        node = air + card(.variable, units: 1) - card(.variable)
        scale = node / (air + (limits.maximum(.variable, units: 1) - limits.maximum(.variable)) / Self.cardShare)
        read = exchange(27) + card(.read)
        block = (airByte + Self.lineByte) * 18 + card(.read, units: 1) - card(.read)
    }

    /// Request Service for so many nodes, in commands of at most `limit`.
    func request(_ count: Int, upTo limit: Int) -> Duration {
        command * ((count + limit - 1) / max(1, limit)) + node * count
    }

    /// How many nodes one command can name in this time.
    func nodes(within time: Duration) -> Int { max(0, Int((time - command) / node)) }
}
