// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardDecoders
import CardModel

/// What a transit card keeps beside its history: the gate log, the entry record, tickets.
///
/// None of these holds the area of a station, so that one code can mean up to four stations: codes are printed, no names.
struct GateView {
    var report: CardReport

    /// The tables that have rows, each after an empty line; empty when the card keeps nothing of this.
    var text: String {
        var text = ""
        if !report.gateEvents.isEmpty {
            text += "\n" + tr("Gate log", "改札の記録") + "\n" + Columns.text(gates, rightAligned: [4])
        }
        if let entry = report.entryRecord {
            text +=
                "\n" + tr("Last entry for a fare  ", "最後の運賃入場  ") + GateView.station(entry.line, entry.station) + "\n"
        }
        if !report.tickets.isEmpty {
            text += "\n" + tr("Tickets", "料金券") + "\n" + Columns.text(tickets, rightAligned: [4])
        }
        return text
    }

    /// The holder is inside the gates: says itself that no card tells it.
    static func words(_ inside: InsideGates) -> String {
        let place = station(inside.line, inside.station)
        let moment = "\(inside.date) \(inside.since.hourAndMinute)"
        return tr("inside the gates since \(moment), station \(place)", "\(moment) から改札内（駅 \(place)）")
            + (inside.isWithPass ? tr(", with a commuter pass", "、定期券") : "")
    }

    private var gates: [[String]] {
        let head = [
            tr("DATE", "日付"), tr("TIME", "時刻"), tr("GATE", "改札"), tr("STATION", "駅"), tr("AMOUNT", "金額"),
        ]
        return [head]
            + report.gateEvents.map { event in
                [
                    event.date?.description ?? "-", event.time?.hourAndMinute ?? "",
                    event.kind.name?[Language.current] ?? Hex.encode(event.kind.code, digits: 2),
                    GateView.station(event.line, event.station),
                    event.isEntry && event.amount == 0 ? "" : String(event.amount),
                ]
            }
    }

    private var tickets: [[String]] {
        let head = [tr("UNTIL", "期限"), tr("KIND", "種別"), tr("FROM", "入"), tr("TO", "出"), tr("PRICE", "金額")]
        return [head]
            + report.tickets.map { ticket in
                [
                    ticket.expiry?.description ?? "-", Hex.encode(ticket.kind, digits: 2),
                    Hex.encode(ticket.from, digits: 4), Hex.encode(ticket.to, digits: 4), String(ticket.price),
                ]
            }
    }

    private static func station(_ line: UInt8, _ station: UInt8) -> String { "\(line)-\(station)" }
}
