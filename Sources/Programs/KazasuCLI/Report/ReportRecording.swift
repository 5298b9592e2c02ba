// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu

/// Records the commands run with a reader, down to the frames between computer and reader, redacted.
final class ReportRecording {
    /// How a command ended.
    struct Run {
        var command: String
        var status: ExitStatus
        /// The machine-readable identifier of the failure, if any.
        var reason: String?
        /// The number of exchanges with the card.
        var exchanges = 0
        /// The number of frames between computer and reader.
        var frames = 0
    }

    /// The reader, with its serial number masked.
    private(set) var information: ReaderInformation
    /// Why the reader could not be opened.
    private(set) var failure: CommandError?
    private(set) var runs: [Run] = []
    /// The lines of the report after its first two.
    private(set) var lines: [String] = []

    private let context: Context
    private let recorder = LinkRecorder()
    private let trace: TraceRedaction
    private var link: LinkRedaction

    /// The longest answer in a report, in bytes; the exchanges contain the same data.
    private static let longestAnswer = 1_000_000

    /// Opens the reader and runs the commands, one after another, as long as there is a card.
    ///
    /// - Throws: ``CommandError`` when the user interrupts.
    init(reader id: String, commands: [String], timeout: CardTimeout, _ context: Context) throws {
        self.context = context
        information = ReaderInformation(id: ReportScrub.text(id), name: "")
        trace = TraceRedaction(Redaction(isOn: true))
        link = LinkRedaction(trace)
        let opened: any Reader
        do {
            opened = try ReaderSession.open(id, context.cancellation, recorder: recorder)
        } catch let failure as CommandError {
            if failure.status == .interrupted { throw failure }
            self.failure = failure
            flush()
            return
        }
        defer {
            opened.close()
            flush()
        }
        let lent = ScrubbedReader(opened)
        information = lent.information
        flush()
        // The first line is the document's own, which is written at the end.
        var isHeader = true
        let recording = RecordingReader(
            lent, redact: { self.redact($0) }, now: { [recorder] in recorder.elapsed },
            write: { line in
                if !isHeader { self.lines.append(line) }
                isHeader = false
            })
        for command in commands {
            try run(command, timeout, on: recording)
            if runs.last.map({ $0.status == .noCard || $0.status == .noReader }) == true { return }
        }
    }

    private func run(_ name: String, _ timeout: CardTimeout, on reader: any Reader) throws {
        add(.section(command: name))
        runs.append(Run(command: name, status: .done))
        let lent = LentReader(reader)
        var context = context
        (context.json, context.redaction, context.lent) = (true, Redaction(isOn: true), lent)
        var failure: CommandError?
        do {
            let arguments = [name, "--json", "--redact", "--timeout", timeout.argument]
            guard let command = try RootCommand.parseAsRoot(arguments) as? any KazasuCommand else {
                throw CommandError.bug("no command is called \(name)")
            }
            try command.execute(context)
        } catch {
            guard let known = CommandError.of(error) as? CommandError, known.status != .interrupted else { throw error }
            failure = known
        }
        flush()
        runs[runs.count - 1].status = failure?.status ?? .done
        runs[runs.count - 1].reason = failure?.reason
        var outcome = JSONObject([("status", .int((failure?.status ?? .done).rawValue))])
        if let failure { outcome["error"] = ReportScrub.value(failure.json) }
        if let answer = lent.answer.document, answer.compactText.utf8.count <= Self.longestAnswer {
            outcome["answer"] = ReportScrub.value(answer)
        }
        add(.outcome(.object(outcome)))
    }

    /// Writes the frames of an exchange, and returns the redacted exchange itself.
    private func redact(_ entry: TranscriptEntry) -> TranscriptEntry {
        let frames = link.apply(recorder.take(), of: entry)
        if !runs.isEmpty { runs[runs.count - 1].exchanges += 1 }
        write(frames)
        return trace.apply(entry)
    }

    private func flush() {
        write(link.apply(recorder.take()))
    }

    private func write(_ frames: [LinkEvent]) {
        for var event in frames {
            switch event.content {
            case .note(let text): event.content = .note(ReportScrub.text(text))
            case .sent, .received: if !runs.isEmpty { runs[runs.count - 1].frames += 1 }
            case .failed: break
            }
            lines.append(event.line)
        }
    }

    private func add(_ content: Transcript.Remark.Content) {
        lines.append(content.line)
    }
}

/// A reader whose name and ID show no serial number, and that stays open for the next command.
private final class ScrubbedReader: Reader {
    let information: ReaderInformation
    private let reader: any Reader

    init(_ reader: any Reader) {
        self.reader = reader
        var information = reader.information
        information.id = ReportScrub.text(information.id)
        information.name = ReportScrub.text(information.name)
        self.information = information
    }

    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? { try reader.activate(request) }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        try reader.transceive(frame, timeout: timeout)
    }

    func waitForEvent(within time: Duration) throws(TransportError) -> Bool { try reader.waitForEvent(within: time) }

    func cyclePower() throws(TransportError) -> Bool { try reader.cyclePower() }

    func show(_ signal: ReaderSignal) throws(TransportError) -> Bool { try reader.show(signal) }

    func silence() throws(TransportError) -> Bool { try reader.silence() }

    func close() {}
}
