// SPDX-License-Identifier: Apache-2.0

import CardModel
@testable package import KazasuTaps

extension TapEvent {
    /// An event of the tests; the ID grows with the number.
    package static func made(
        _ sequence: Int, reader: String = "door", site: String = "tokyo", type: String = "on", time: Int = 0,
        tag: String? = "0114B34DAA012345", state: TapEvent.ReaderState? = nil, epoch: Int = 0
    ) -> TapEvent {
        let digits = String(sequence, radix: 16)
        let tail = String(repeating: "0", count: 12 - digits.count) + digits
        let hash = reader.utf8.reduce(0) { ($0 * 31 + Int($1)) % 4096 }
        let group = String(4096 + hash, radix: 16).dropFirst()
        let id = "0193\(String(4096 + epoch, radix: 16).dropFirst())0-0000-7\(group)-8000-\(tail)"
        let card = TapEvent.Card(
            technology: .felica, system: SystemCode(rawValue: 0x0003), tag: tag, name: nil, isRandom: tag == nil)
        let kind: TapEvent.Kind =
            switch type {
            case "on": .on(card, TapEvent.Content())
            case "off": .off(card, TapEvent.Visit(on: id, dwell: nil, reason: nil))
            case "answer": .answer(TapEvent.Answer(on: id, verdict: .yes, milliseconds: 40))
            default: .reader(state ?? .ready)
            }
        let moment = TapEvent.Moment(
            milliseconds: time, text: "2026-11-21T20:45:00.123+09:00", uptime: 0, isSynchronized: true)
        return TapEvent(id: id, sequence: sequence, kind: kind, moment: moment, site: site, reader: reader)
    }
}

extension StoredEvent {
    package static func made(
        _ sequence: Int, reader: String = "door", site: String = "tokyo", type: String = "on", time: Int = 0,
        tag: String? = "0114B34DAA012345", state: TapEvent.ReaderState? = nil, epoch: Int = 0
    ) -> StoredEvent {
        StoredEvent(
            .made(sequence, reader: reader, site: site, type: type, time: time, tag: tag, state: state, epoch: epoch))
    }
}
