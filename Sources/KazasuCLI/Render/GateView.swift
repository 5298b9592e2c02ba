// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardDecoders
import CardModel

/// What a transit card keeps beside its history: the gate log, the entry record, tickets.
///
/// None of these holds the area of a station, so that one code can mean up to four stations. Where a ride of that day
/// goes through a station with this code, its area is meant; else every station that the code can mean is named.
struct GateView {
    var report: CardReport
    var names: any StationNames

    /// The tables that have rows, each after an empty line; empty when the card keeps nothing of this.
    var text: String {
        var text = ""
        if !report.gateEvents.isEmpty {
            text += "\n" + tr("Gate log", "改札の記録") + "\n" + Columns.text(gates, rightAligned: [4])
        }
        if let entry = report.entryRecord {
            text +=
                "\n" + tr("Last entry for a fare  ", "最後の運賃入場  ") + station(entry.line, entry.station, on: nil) + "\n"
        }
        if !report.tickets.isEmpty {
            text += "\n" + tr("Tickets", "料金券") + "\n" + Columns.text(tickets, rightAligned: [4])
        }
        return text
    }

    /// What each block says by itself, in one line.
    var lines: [(block: Block, line: String)] {
        let gates = report.gateEvents.map { ($0.raw, GateView.line(cells($0))) }
        let tickets = report.tickets.map { ($0.raw, GateView.line(GateView.cells($0))) }
        let entry = report.entryRecord.flatMap { record in
            record.raw.first.map { block in
                (block, tr("last entry for a fare  ", "最後の運賃入場  ") + station(record.line, record.station, on: nil))
            }
        }
        return gates + tickets + (entry.map { [$0] } ?? [])
    }

    private static func line(_ cells: [String]) -> String { cells.filter { !$0.isEmpty }.joined(separator: "  ") }

    /// The holder is inside the gates: says itself that no card tells it.
    func words(_ inside: InsideGates) -> String {
        let place = station(inside.line, inside.station, on: inside.date)
        let moment = "\(inside.date) \(inside.since.hourAndMinute)"
        return tr("inside the gates since \(moment), station \(place)", "\(moment) から改札内（駅 \(place)）")
            + (inside.isWithPass ? tr(", with a commuter pass", "、定期券") : "")
    }

    private var gates: [[String]] {
        let head = [
            tr("DATE", "日付"), tr("TIME", "時刻"), tr("GATE", "改札"), tr("STATION", "駅"), tr("AMOUNT", "金額"),
        ]
        return [head] + report.gateEvents.map(cells)
    }

    private func cells(_ event: GateEvent) -> [String] {
        [
            event.date?.description ?? "-", event.time?.hourAndMinute ?? "",
            event.kind.name?[Language.current] ?? Hex.encode(event.kind.code, digits: 2),
            station(event.line, event.station, on: event.date),
            event.isEntry && event.amount == 0 ? "" : String(event.amount),
        ]
    }

    private var tickets: [[String]] {
        let head = [tr("UNTIL", "期限"), tr("KIND", "種別"), tr("FROM", "入"), tr("TO", "出"), tr("PRICE", "金額")]
        return [head] + report.tickets.map(GateView.cells)
    }

    private static func cells(_ ticket: PaidTicket) -> [String] {
        [
            ticket.expiry?.description ?? "-", Hex.encode(ticket.kind, digits: 2),
            Hex.encode(ticket.from, digits: 4), Hex.encode(ticket.to, digits: 4), String(ticket.price),
        ]
    }

    /// The code, and the names of the stations that it can mean on that day.
    private func station(_ line: UInt8, _ station: UInt8, on date: CalendarDate?) -> String {
        var found: [String] = []
        for area in areas(line, station, on: date) {
            let place = Place(.station(StationCode(area: area, line: line, station: station)), on: date, names)
            let name = HistoryView.place(place)
            if place.name?.name != nil, !found.contains(name) { found.append(name) }
        }
        return (["\(line)-\(station)"] + (found.isEmpty ? [] : [found.joined(separator: "/")])).joined(separator: " ")
    }

    /// The areas of the stations with this code that rides of the day go through; without such a ride all.
    private func areas(_ line: UInt8, _ station: UInt8, on date: CalendarDate?) -> [UInt8] {
        var areas: Set<UInt8> = []
        for record in report.history ?? [] where date != nil && record.date == date {
            for case .station(let code)? in [record.entry?.code, record.exit?.code]
            where code.line == line && code.station == station {
                areas.insert(code.area)
            }
        }
        return areas.isEmpty ? [0, 1, 2, 3] : areas.sorted()
    }
}
