// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI

/// The decoders' results for a dump.
struct DecodeView: StreamedDocument {
    var dump: CardDump
    var found: DumpReports
    var redaction: Redaction
    /// The identity documents in it.
    var documents: [DecodedDocument]

    init(_ dump: CardDump, _ found: DumpReports, _ redaction: Redaction, photoPath: String? = nil) {
        (self.dump, self.found, self.redaction) = (dump, found, redaction)
        documents = found.documents.compactMap { DecodedDocument($0, dump, redaction, photoPath: photoPath) }
    }

    private var classic: ClassicView? { found.classic.map { ClassicView($0, redaction) } }

    private var desfire: DESFireView? { found.desfire.flatMap { DESFireView($0, redaction) } }

    /// The day on which the chip was made, from the IDm: hidden with it under `--redact`.
    private var manufactured: CalendarDate? {
        redaction.apply(dump.card).manufactureDay(readOn: dump.readAt.flatMap { CalendarDate($0.prefix(10)) } ?? .today)
    }

    /// Writes the document `kazasu.decode/1`.
    ///
    /// - Parameter file: the source of the dump, when it is one of many.
    #if compiler(>=6.3)
        @specialized(where Sink == JSONWriter)
    #endif
    func write<Sink: JSONSink & ~Copyable>(to sink: inout Sink) { write(to: &sink, file: nil) }

    func write<Sink: JSONSink & ~Copyable>(to sink: inout Sink, file: String?) {
        sink.object { document in
            document.member("schema", "kazasu.decode/1")
            if let file { document.member("file", file) }
            var card = dump.decoded(as: found.kind, redaction)
            card.manufactured = manufactured
            document.member("card") { card.write(to: &$0) }
            document.member("complete", dump.isComplete)
            document.key("reports")
            document.beginArray()
            for report in found.cards { report.write(to: &document, Language.current, redact: redaction.apply) }
            // The output of the card's own command, with its kind in place of the schema.
            let memories = [
                classic.map { (CardKind.classic, $0.report) }, desfire.map { (CardKind.desfire, $0.members) },
            ]
            for (kind, members) in documents.map({ ($0.kind, $0.members) }) + memories.compactMap(\.self) {
                var report = JSONObject([("kind", .string(kind.rawValue))])
                report.merge(members)
                document.value(.object(report))
            }
            document.endArray()
            redaction.mark(&document)
        }
    }

    /// Writes the same for display, piece by piece.
    func write(_ print: (String) throws(CommandError) -> Void) throws(CommandError) {
        var rows: [[String]] = []
        if let idm = dump.card.idm { rows.append(["IDm", redaction.apply(idm).description.uppercased()]) }
        if let pmm = dump.card.pmm { rows.append(["IC", CardNames.describe(ic: pmm)]) }
        if let manufactured { rows.append(CardNames.row(manufactured: manufactured)) }
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
        var text = Columns.values(rows)
        // An empty line comes between sections, not before the first one.
        let gap = rows.isEmpty ? "" : "\n"
        let memories = [classic?.text(uid: dump.card.uid), desfire.map { Columns.values($0.rows) }]
        let identities = documents.map(\.text) + memories.compactMap(\.self)
        if found.cards.isEmpty, identities.isEmpty {
            text += gap + tr("No decoder supports this card.", "このカードに対応するデコーダーがありません。") + "\n"
        }
        for report in found.cards {
            text += "\n\(report.name[Language.current])\n"
            let gates = GateView(report: report)
            var lines = report.balances.flatMap { balance in
                balance.candidates.isEmpty
                    ? [["  " + tr("Balance", "残高"), balance.text]]
                    : balance.candidateTexts.map { ["  " + tr("Possible balance", "残高の候補"), $0] }
            }
            lines += report.balances.compactMap { balance in
                // Where the amount comes from the history, a warning says so.
                guard let basis = balance.basis, basis != .newestRecord else { return nil }
                return ["  " + tr("Reason", "理由"), basis.text[Language.current]]
            }
            lines += report.fields.map { ["  " + $0.name[Language.current], redaction.words(of: $0)] }
            if let inside = report.insideGates { lines.append(["  " + tr("Inference", "推定"), gates.words(inside)]) }
            lines += report.warnings.map { ["  " + tr("Note", "注意"), $0.words] }
            let note = "  " + tr("Note", "注意")
            text += Columns.values(lines) { name, _ in name == note && Color.isOnOutput ? .yellow : nil }
            if let history = report.historyReport, !history.records.isEmpty {
                try print(text + "\n")
                text = ""
                try HistoryTable(records: history.records, currency: history.currency, width: Output.lineWidth).write(
                    print)
            }
            text += gates.text
        }
        let start = found.cards.isEmpty ? gap : "\n"
        try print(text + (identities.isEmpty ? "" : start) + identities.joined(separator: "\n"))
    }
}

/// The answer of `kazasu decode`, dump by dump.
struct DecodeAnswer: ~Copyable {
    private let form: DecodeFormat
    private let names: any StationNames
    private let csv: HistoryCSV
    private let context: Context
    /// What precedes the first row of CSV, until that is printed.
    private var start: String
    /// Whether a dump precedes.
    private var isFollowing = false
    /// Kept to reuse its buffer.
    private var writer = JSONWriter()

    init(_ form: DecodeFormat, _ names: any StationNames, _ options: CSVOptions, _ context: Context) {
        (self.form, self.names, self.context) = (form, names, context)
        csv = options.csv
        start = options.text(csv.head)
    }

    /// Prints what the decoders see in one dump.
    ///
    /// - Parameters:
    ///   - place: the file, with the line where a file has several dumps.
    ///   - isOnly: whether there is no other dump.
    ///   - photo: where to write the photo of an identity document.
    mutating func print(
        _ dump: CardDump, _ place: String, isOnly: Bool, photo: PhotoFile? = nil
    ) throws(CommandError) {
        let found = dump.decode(stations: names)
        let photoPath = photo?.write(found.documents.lazy.compactMap { $0.document.picture("photo") }.first, context)
        let view = DecodeView(dump, found, context.redaction, photoPath: photoPath)
        let heading = isOnly ? nil : place
        switch form {
        case .text:
            note(found, dump, heading)
            if let heading { try context.print((isFollowing ? "\n" : "") + "==> \(VisibleText.line(heading)) <==\n") }
            try view.write { text throws(CommandError) in try context.print(text) }
        case .json where isOnly:
            note(found, dump, heading)
            try context.print(view)
        case .json, .ndjson:
            writer.removeAll()
            view.write(to: &writer, file: place)
            writer.endLine()
            try writer.withBytes { bytes throws(CommandError) in try Output.write(bytes) }
        case .csv:
            note(found, dump, heading)
            let rows = found.cards.compactMap { report in
                report.historyReport.map { csv.rows($0, dump.decoded(as: report.kind, context.redaction)) }
            }
            try context.print(escaped: start + rows.joined())
            start = ""
        }
        isFollowing = true
    }

    private func note(_ found: DumpReports, _ dump: CardDump, _ place: String?) {
        let start = place.map { "\($0): " } ?? ""
        for error in found.errors { context.note(start + CommandError(ofDump: error).message) }
        context.noteLimits(of: dump, place)
    }
}
