// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel

/// The decoders' results for a dump.
struct DecodeView {
    var dump: CardDump
    var reports: [CardReport]
    var redaction: Redaction

    /// Writes the document `kazasu.decode/1`.
    ///
    /// - Parameter file: the source of the dump, when it is one of many.
    @specialized(where Sink == JSONWriter)
    func write<Sink: JSONSink & ~Copyable>(to sink: inout Sink, file: String? = nil) {
        let card = redaction.apply(dump.card)
        sink.object { document in
            document.member("schema", "kazasu.decode/1")
            if let file { document.member("file", file) }
            document.member("card") { $0.value(card.json) }
            document.member("complete", dump.complete)
            document.key("reports")
            document.beginArray()
            for report in reports { report.write(to: &document, Language.current, redact: redaction.apply) }
            for report in IdentityReports(dump, redaction).json { document.value(report) }
            document.endArray()
            redaction.mark(&document)
        }
    }

    /// Writes the same for display, piece by piece.
    func write(_ print: (String) throws(CommandError) -> Void) throws(CommandError) {
        var rows: [[String]] = []
        if let idm = dump.card.idm { rows.append(["IDm", redaction.apply(idm).description.uppercased()]) }
        if let pmm = dump.card.pmm { rows.append(["IC", CardNames.describe(ic: pmm)]) }
        for system in dump.systems {
            let blocks = system.services.reduce(0) { $0 + $1.blocks.count }
            rows.append([
                tr("System", "システム"),
                CardNames.describe(system: system.systemCode)
                    + tr(
                        ", \(Words.count(system.services.count, "service")), \(Words.count(blocks, "block"))",
                        "、サービス \(system.services.count)、ブロック \(blocks)"),
            ])
        }
        var text = Columns.text(rows)
        let identities = IdentityReports(dump, redaction)
        if reports.isEmpty, identities.isEmpty {
            text += "\n" + tr("No decoder supports this card.", "このカードに対応するデコーダーがありません。") + "\n"
        }
        for report in reports {
            text += "\n\(report.name[Language.current])\n"
            let gates = GateView(report: report)
            var lines = report.balances.flatMap { balance in
                balance.candidates.isEmpty
                    ? [["  " + tr("Balance", "残高"), balance.text]]
                    : balance.candidateTexts.map { ["  " + tr("Possible balance", "残高の候補"), $0] }
            }
            lines += report.fields.map { ["  " + $0.name[Language.current], redaction.words(of: $0)] }
            if let inside = report.insideGates { lines.append(["  " + tr("Inference", "推定"), gates.words(inside)]) }
            lines += report.warnings.map { ["  " + tr("Note", "注意"), $0.words] }
            let note = "  " + tr("Note", "注意")
            text += Columns.text(lines) { $0 == 0 && $1 == note && Colour.isOnOutput ? .yellow : nil }
            if let history = report.historyReport, !history.records.isEmpty {
                try print(text + "\n")
                text = ""
                try HistoryView(report: history).table.write(print)
            }
            text += gates.text
        }
        try print(text + identities.text)
    }
}

/// One line of ndjson for each dump of many.
struct DecodeLine: ~Copyable {
    let names: any StationNames
    let redaction: Redaction
    /// Kept to reuse its buffer.
    private var writer = JSONWriter()

    init(names: any StationNames, redaction: Redaction) {
        self.names = names
        self.redaction = redaction
    }

    mutating func print(_ dump: CardDump, _ place: String) throws(CommandError) {
        writer.removeAll()
        DecodeView(dump: dump, reports: Decoding(dump, names).reports, redaction: redaction)
            .write(to: &writer, file: place)
        writer.endLine()
        try writer.withBytes { bytes throws(CommandError) in try Output.write(bytes) }
    }
}
