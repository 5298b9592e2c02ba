// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import FeliCa
package import ReaderCore

/// The exchanges of a command: how many, how long they are expected to take on air and in the card, and how long they took.
///
/// What they took includes the reader, the line to it and the machine. The model is that of ``ExchangeTime``; it is for
/// FeliCa only.
package struct ExchangeTally: Hashable, Sendable {
    /// The number of FeliCa Pollings.
    package private(set) var pollings = 0
    /// The number of searches for cards of type A and B.
    package private(set) var otherSearches = 0
    /// The number of commands to cards.
    package private(set) var commands = 0
    /// The time of all FeliCa exchanges by the model.
    package private(set) var expected = Duration.zero
    /// The time of all exchanges on the clock.
    package private(set) var measured = Duration.zero
    /// Whether all commands were FeliCa commands, so that ``expected`` is of all of them.
    package private(set) var isFeliCaOnly = true
    /// The card that was selected last; `nil` if it was not a FeliCa card.
    private var target: FeliCaTarget?

    package init() {}

    /// Adds an exchange.
    ///
    /// - Parameter time: how long it took.
    package mutating func add(_ event: TranscriptEntry.Event, took time: Duration) {
        measured += time
        switch event {
        case .activate(.felica(_, let requestCode, let timeSlots, let bitRate), let result):
            pollings += 1
            let picc = try? result.get()
            if let picc, case .felica(let found) = picc { target = found }
            expected += ExchangeTime.polling(
                slots: timeSlots, at: bitRate, answer: picc == nil ? nil : requestCode == 0 ? 18 : 20)
        case .activate(_, let result):
            otherSearches += 1
            if case .success(.some) = result { target = nil }
        case .transceive(let frame, _, let result):
            commands += 1
            guard let target else {
                isFeliCaOnly = false
                return
            }
            expected += ExchangeTime.command(
                frame, answer: (try? result.get())?.count, pmm: target.pmm, at: target.bitRate)
        }
    }
}

extension ExchangeTime {
    /// A Polling on air, with its answer of so many bytes in the first time slot, or with all of its time slots.
    static func polling(slots: UInt8, at bitRate: FeliCaBitRate, answer: Int?) -> Duration {
        let outward = airByte(bitRate) * (6 + frame)
        guard let answer else { return outward + firstSlot + slot * (Int(slots) + 1) }
        return outward + firstSlot + airByte(bitRate) * (answer + frame)
    }

    /// A command on air and in the card; without an answer, only the command.
    static func command(_ packet: [UInt8], answer: Int?, pmm: PMm, at bitRate: FeliCaBitRate) -> Duration {
        let outward = airByte(bitRate) * (packet.count + frame)
        guard let answer else { return outward }
        return outward + airByte(bitRate) * (answer + frame) + limit(of: packet, ResponseTime(pmm)) / cardShare
    }

    /// The kind of a command, by which the card's limits differ; `nil` if the packet has none.
    static func commandClass(of packet: [UInt8]) -> ResponseTime.CommandClass? {
        guard packet.count > 1 else { return nil }
        return switch packet[1] {
        case 0x02, 0x32: .variable
        case 0x06: .read
        case 0x08: .write
        case 0x10, 0x12, 0x14, 0x16: .authentication
        default: .fixed
        }
    }

    /// The longest time that the card may take for this command.
    static func limit(of packet: [UInt8], _ limits: ResponseTime) -> Duration {
        guard let kind = commandClass(of: packet) else { return .zero }
        let nodes = packet.count > 10 ? Int(packet[10]) : 0
        let blocks = packet.count > 11 + 2 * nodes ? Int(packet[11 + 2 * nodes]) : 0
        return switch kind {
        case .variable, .authentication: limits.maximum(kind, units: nodes)
        case .read, .write: limits.maximum(kind, units: blocks)
        case .fixed, .other: limits.maximum(.fixed)
        }
    }

    /// From a Polling to the first time slot, and each time slot (FeliCa user's manual).
    private static let firstSlot = Duration.nanoseconds(2_416_519), slot = Duration.nanoseconds(1_208_259)
}
