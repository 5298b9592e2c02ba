// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import FeliCa
internal import ReaderCore

/// How long the questions about a system's nodes are expected to take: on air, in the card, and on the line.
///
/// A frame has 10 bytes besides its packet, and a byte takes 37.76 µs at 212 kbit/s. The PMm gives limits only; the card
/// is expected to take a tenth of them. The line is that of a PN532 at 921600 baud. `Docs/performance.md` has the model.
///
/// It decides which questions a scan asks, and never what it finds.
struct ExchangeTime {
    /// Search Service Code: 12 bytes, and 14 in the answer.
    let search: Duration
    /// Request Service: what each node adds, two bytes in the command and two in the answer.
    let node: Duration
    /// Request Service besides its nodes: 11 bytes, and 11 in the answer.
    let command: Duration

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

    init(_ pmm: PMm, at bitRate: FeliCaBitRate) {
        let limits = ResponseTime(pmm)
        let airByte = Self.airByte(bitRate)
        func exchange(_ bytes: Int) -> Duration {
            airByte * (bytes + 2 * Self.frame) + Self.lineByte * (bytes + Self.host)
        }
        search = exchange(26) + limits.maximum(.fixed) / Self.cardShare
        command = exchange(22) + limits.maximum(.variable) / Self.cardShare
        let cardNode = limits.maximum(.variable, units: 1) - limits.maximum(.variable)
        node = (airByte + Self.lineByte) * 4 + cardNode / Self.cardShare
    }

    /// Request Service for so many nodes, in commands of at most `limit`.
    func request(_ count: Int, upTo limit: Int) -> Duration {
        command * ((count + limit - 1) / max(1, limit)) + node * count
    }

    /// How many nodes one command can name in this time.
    func nodes(within time: Duration) -> Int { max(0, Int((time - command) / node)) }
}
