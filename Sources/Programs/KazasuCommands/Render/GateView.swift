// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import Kazasu
import KazasuCLI

/// The data that a transit card keeps beside its history: the gate log, the entry record, tickets.
///
/// None of these holds the area of a station, so that one code can mean up to four stations: every possible one is
/// named.
struct GateView {
    var report: CardReport

    /// The tables that have rows, each after an empty line; empty when the card keeps no such data.
    var text: String {
        var text = ""
        if !report.gateEvents.isEmpty {
            text += "\n" + tr("Gate log", "改札の記録") + "\n" + Columns.text(gates, rightAligned: [4])
        }
        if let entry = report.entryRecord {
            text +=
                "\n" + tr("Last station entered  ", "最後に入場した駅  ")
                + GateView.station(entry.code, entry.stations) + "\n"
        }
        if !report.tickets.isEmpty {
            text += "\n" + tr("Tickets", "料金券") + "\n" + Columns.text(tickets, rightAligned: [4])
        }
        return text
    }

    /// The meaning of each block on its own, in one line.
    var lines: [(block: Block, line: String)] {
        let gates = report.gateEvents.map { ($0.raw, GateView.line(cells($0, report.currency.words))) }
        let tickets = report.tickets.map { ($0.raw, GateView.line(GateView.cells($0, report.currency.words))) }
        let entry = report.entryRecord.flatMap { record in
            record.raw.first.map { block in
                (
                    block,
                    tr("last station entered  ", "最後に入場した駅  ")
                        + GateView.station(record.code, record.stations)
                )
            }
        }
        return gates + tickets + (entry.map { [$0] } ?? [])
    }

    private static func line(_ cells: [String]) -> String { cells.filter { !$0.isEmpty }.joined(separator: "  ") }

    /// The text for a holder inside the gates, shown as an inference.
    func words(_ inside: InsideGates) -> String {
        let place = GateView.station(inside.code, inside.stations)
        let moment = "\(inside.date) \(inside.since.hourAndMinute)"
        return tr("inside the gates since \(moment), station \(place)", "\(moment) から改札内（駅 \(place)）")
            + (inside.isWithPass ? tr(", with a commuter pass", "、定期券") : "")
    }

    private var gates: [[String]] {
        let head = [
            tr("DATE", "日付"), tr("TIME", "時刻"), tr("GATE", "改札"), tr("STATION", "駅"), tr("AMOUNT", "金額"),
        ]
        return [head] + report.gateEvents.map { cells($0, report.currency.text) }
    }

    private func cells(_ event: GateEvent, _ money: (Int) -> String) -> [String] {
        [
            event.date?.description ?? "-", event.time?.hourAndMinute ?? "",
            HistoryView.name(event.kind),
            GateView.station(event.code, event.stations),
            event.isEntry && event.amount == 0 ? "" : money(event.amount),
        ]
    }

    private var tickets: [[String]] {
        let head = [tr("UNTIL", "期限"), tr("KIND", "種別"), tr("FROM", "発駅"), tr("TO", "着駅"), tr("PRICE", "金額")]
        return [head] + report.tickets.map { GateView.cells($0, report.currency.text) }
    }

    private static func cells(_ ticket: PaidTicket, _ money: (Int) -> String) -> [String] {
        [
            ticket.expiry?.description ?? "-", Hex.encode(ticket.kind, digits: 2),
            ticket.from.description, ticket.to.description, money(ticket.price),
        ]
    }

    /// The code, and the names of the stations that it can mean.
    private static func station(_ code: LineStationCode, _ places: [Place]) -> String {
        var names: [String] = []
        for place in places where place.name?.name != nil {
            let name = HistoryView.place(place)
            if !names.contains(name) { names.append(name) }
        }
        return (["\(code.line)-\(code.station)"] + (names.isEmpty ? [] : [names.joined(separator: "/")])).joined(
            separator: " ")
    }
}
