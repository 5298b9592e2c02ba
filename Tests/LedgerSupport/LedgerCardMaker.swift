// SPDX-License-Identifier: Apache-2.0

import CardDecoders
package import CardModel
import TestSupport

/// An invented card that rides and pays for years, and gives the dump of any moment: every record has its true amount.
package struct LedgerCardMaker {
    package enum Kind: String, CaseIterable, Sendable {
        /// Rides count two, as on real cards.
        case transit
        /// Every record counts one, as some tools that write card files have it.
        case counted
        case edy
        case nanaco
        case waon
        /// No serials.
        case coop

        package var decoder: String { self == .counted ? "transit" : rawValue }
        package var window: Int {
            switch self {
            case .transit, .counted: 20
            case .edy: 6
            case .nanaco: 5
            case .waon: 3
            case .coop: 10
            }
        }
    }

    package struct Entry: Hashable {
        package var serial: Int
        package var day: Int
        package var minute: Int
        package var isRide: Bool
        package var stations: (UInt8, UInt8) {
            isRide ? (UInt8(40 + day % 2 + ride % 3), UInt8(60 + ride % 2)) : (0, 0)
        }
        package var ride = 0
        package var amount: Int
        package var balance: Int
    }

    package let kind: Kind
    package let idm: UInt64
    package private(set) var entries: [Entry] = []
    private var random: SeededGenerator

    package init(_ kind: Kind, idm: UInt64, seed: UInt64, serial: Int = 100) {
        self.kind = kind
        self.idm = idm
        random = SeededGenerator(seed: seed)
        self.serial = serial
    }

    private var serial: Int

    /// A transit card with so many records.
    package static func transit(_ records: Int, idm: UInt64 = 0x0101_0312_0000_0001) -> LedgerCardMaker {
        var maker = LedgerCardMaker(.transit, idm: idm, seed: idm)
        maker.live(records: records, from: 8_705)
        return maker
    }

    /// Adds records from a day on (days since 2000), up to four a day.
    package mutating func live(records: Int, from day: Int) {
        var day = max(day, entries.last?.day ?? 0)
        var balance = entries.last?.balance ?? 5_000
        var minute = entries.last?.minute ?? 420
        for number in 0..<records {
            if Int.random(in: 0..<3, using: &random) == 0 {
                day += 1
                minute = 420
            }
            minute += Int.random(in: 5...90, using: &random)
            if minute >= 1_440 { (day, minute) = (day + 1, 420) }
            let isRide = kind.window == 20 && Int.random(in: 0..<4, using: &random) > 0
            var amount = -Int.random(in: 1...60, using: &random) * 10
            if balance + amount < 0 { amount = 3_000 }
            balance += amount
            serial += isRide && amount < 0 && kind == .transit ? 2 : 1
            entries.append(
                Entry(
                    serial: serial, day: day, minute: minute, isRide: isRide && amount < 0, ride: number,
                    amount: amount,
                    balance: balance))
        }
    }

    /// Sets the counter of the card to a value.
    package mutating func setCounter(_ value: Int) { serial = value }

    /// What a reader finds after so many records.
    package func dump(after count: Int) -> CardDump {
        let newest = entries.prefix(count).suffix(kind.window).reversed()
        return dump(Array(newest))
    }

    /// A dump of some records, newest first.
    package func dump(_ records: [Entry]) -> CardDump {
        let (system, code): (UInt16, UInt16) =
            switch kind {
            case .transit, .counted: (0x0003, 0x090F)
            case .edy: (0xFE00, 0x170F)
            case .nanaco: (0xFE00, 0x564F)
            case .waon: (0xFE00, 0x680B)
            case .coop: (0xFE00, 0x50CF)
            }
        let blocks = records.flatMap(blocks)
        let service = ServiceDump(
            code: ServiceCode(rawValue: code), state: .read, blocks: BlockTable(zip(UInt16(0)..., blocks)))
        let (idm, pmm) = (IDm(rawValue: idm), PMm(rawValue: 0x0120_2204_2767_4EFF))
        return CardDump(
            card: CardIdentity(technology: .felica, idm: idm, pmm: pmm),
            systems: [SystemDump(systemCode: SystemCode(rawValue: system), idm: idm, pmm: pmm, services: [service])])
    }

    /// The bytes of a record as the card writes them.
    package func blocks(_ entry: Entry) -> [Block] {
        let date = CalendarDate(daysSince2000: UInt16(entry.day))
        let packed = (date.year - 2000) << 9 | date.month << 5 | date.day
        let magnitude = abs(entry.amount)
        var bytes: [UInt8]
        switch kind {
        case .transit, .counted:
            let (from, to) = entry.stations
            let start: [UInt8] = entry.isRide ? [0x16, 0x01] : entry.amount > 0 ? [0x08, 0x02] : [0xC7, 0x46]
            let time = (entry.minute / 60) << 11 | (entry.minute % 60) << 5
            let places =
                entry.isRide ? [0xE3, from, 0xE3, to] : entry.amount > 0 ? [0xE3, 60, 0, 0] : big(time, 2) + [1, 2]
            bytes =
                start + [0, 0] + big(packed, 2) + places + big(entry.balance, 2).reversed() + big(entry.serial, 3) + [0]
        case .edy:
            let stamp = entry.day << 17 | entry.minute * 60
            bytes = [entry.amount > 0 ? 0x02 : 0x20] + big(entry.serial, 3) + big(stamp, 4) + big(magnitude, 4)
            bytes += big(entry.balance, 4)
        case .nanaco:
            let stamp =
                (date.year - 2000) << 21 | date.month << 17 | date.day << 12 | (entry.minute / 60) << 6 | entry.minute
                % 60
            bytes = [entry.amount > 0 ? 0x6F : 0x47] + big(magnitude, 4) + big(entry.balance, 4) + big(stamp, 4)
            bytes += big(entry.serial, 2) + [0]
        case .waon:
            let head = Array("TERMINAL00001".utf8) + big(entry.serial, 2) + [0]
            var bits = [
                (date.year - 2005, 5), (date.month, 4), (date.day, 5), (entry.minute / 60, 5), (entry.minute % 60, 6),
            ]
            bits += [
                (entry.balance, 18), (entry.amount < 0 ? magnitude : 0, 18), (entry.amount > 0 ? magnitude : 0, 17),
            ]
            var (word, count): ([UInt8], Int) = ([UInt8](repeating: 0, count: 14), 0)
            for (value, width) in bits {
                for bit in (0..<width).reversed() {
                    if value >> bit & 1 == 1 { word[count / 8] |= 0x80 >> UInt8(count % 8) }
                    count += 1
                }
            }
            return [Block(head) ?? .zero, Block([0, entry.amount > 0 ? 0x0C : 0x04] + word) ?? .zero]
        case .coop:
            bytes =
                decimal(date.year, 2) + decimal(date.month, 1) + decimal(date.day, 1) + decimal(entry.minute / 60, 1)
            bytes += decimal(entry.minute % 60, 1) + decimal(entry.ride % 60, 1) + [entry.amount > 0 ? 0x01 : 0x05]
            bytes += decimal(magnitude, 3) + decimal(entry.balance, 3) + [0, 0]
        }
        return [Block(bytes) ?? .zero]
    }

    private func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    private func decimal(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { place in
            let pair = (0..<place).reduce(value) { rest, _ in rest / 100 } % 100
            return UInt8((pair / 10) << 4 | pair % 10)
        }
    }
}
