// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Kazasu
import Recordings

/// The reader of one command, and the wait for its cards.
package final class ReaderSession {
    package let reader: CardReader
    private let timeout: CardTimeout
    /// Whether it is a real reader whose exchanges no other run has to repeat, so that the layouts of its cards may be
    /// kept, and those kept before be used.
    package let mayKeepLayouts: Bool
    /// Whether the user gave a timeout: then cards of other kinds are passed over.
    private let isTimeoutGiven: Bool
    private let context: Context
    private let trace: TraceFile?
    private let exchanges = ExchangeLog()

    /// Opens the reader given by the options, the environment or the connected devices.
    ///
    /// From here to the end of the command, a signal no longer ends the process but cancels the work: the reader is
    /// released, and the data read so far is printed.
    package init(_ options: ReaderOptions, _ context: Context) throws {
        timeout = options.timeout ?? .usual
        isTimeoutGiven = options.timeout != nil
        self.context = context
        if let lent = context.lent {
            var device = lent.reader
            if CommandHost.current != nil, context.redaction.isOn {
                device = RecordingReader(device, note: FrameRedaction(context.redaction).learn)
            }
            reader = CardReader(borrowing: device, cancellation: context.cancellation)
            mayKeepLayouts = false
            trace = nil
            return
        }
        let link = LinkRecorder(wantsLogs: false)
        let (opened, id) = try ReaderSession.opened(options, link, context)
        mayKeepLayouts = options.trace == nil && !ReaderRegistry.isSimulated(id)
        let isMasked = context.redaction.isOn
        do {
            trace = try options.trace.map { path throws(CommandError) in
                let header = CourseRecording.traceHeader(opened.information, id: id, isMasked: isMasked)
                return try TraceFile(path, header, command: context.command ?? RecordingWords.other, isMasked: isMasked)
            }
        } catch {
            opened.close()
            throw error
        }
        KeptProblem.current.opened(opened.information)
        // Also without a trace, this is where the gate of `--redact` learns which cards are there.
        let redaction = FrameRedaction(context.redaction)
        let recording = RecordingReader(
            opened,
            note: { [trace, exchanges] entry in
                exchanges.add(entry, took: link.elapsed - entry.time)
                KeptProblem.current.add(entry, link.takeFrames())
                redaction.learn(entry)
                trace?.add(entry)
            }, now: { link.elapsed })
        reader = CardReader(recording, cancellation: context.cancellation)
    }

    /// Closes the reader and finishes the trace. A trace that cannot be written does not suppress the answer.
    package func close() {
        reader.close()
        exchanges.explain(context)
        context.attempt { () throws(CommandError) in try trace?.close() }
    }

    /// Waits for a card.
    ///
    /// - Throws: ``CommandError`` with status 75 when none came, 76 when another card is present.
    package func find(_ query: CardQuery) throws(CommandError) -> Card {
        guard let card = try findAll(query).first else { throw .noCard() }
        return card
    }

    /// Waits for a card; a phone appears as several cards.
    ///
    /// The user is not asked for a card that is already there. Another card is reported within a second: without
    /// `--timeout` that ends the command, with it the wait continues.
    package func findAll(_ query: CardQuery) throws(CommandError) -> [Card] {
        var note: WaitingNote?
        defer { note?.end() }
        do throws(KazasuError) {
            return try reader.waitForCards(query, CardWait(timeout.duration), passesOver: isTimeoutGiven) { event in
                switch event {
                case .waiting: note = note ?? WaitingNote(context)
                case .wrongCard(let card):
                    note?.end()
                    note = nil
                    context.note(CommandError(card).message + tr("; waiting for another", "。別のカードを待っています"))
                }
            }
        } catch {
            throw CommandError(error)
        }
    }

    /// Checks that a card is of a kind, before its owner is asked for what opens it.
    ///
    /// - Parameter id: that of the kind in `known-cards.tsv`; a card that says nothing about itself may be of it.
    /// - Throws: ``CommandError`` with status 76.
    package func check(_ card: Card, is kind: CardQuery.Kind, _ id: String) throws(CommandError) {
        let kinds: [RecognizedCard]
        do throws(KazasuError) {
            kinds = try card.identify()
        } catch {
            throw CommandError(error)
        }
        guard !kinds.isEmpty, !kinds.contains(where: { $0.kind.id == id }) else { return }
        throw CommandError(
            WrongCard(
                card.picc, names: kinds.map(\.kind.name), kinds: kinds.map(\.kind.id), .kind(wanted: kind)))
    }

    /// Waits for a FeliCa card with one of these systems; without any, for any FeliCa card.
    package func find(systems: [SystemCode]?) throws(CommandError) -> Card {
        try find(systems.map { .feliCa(systems: $0) } ?? .feliCa)
    }

    /// Opens the reader of the options, once there is one where they say to wait for it.
    private static func opened(
        _ options: ReaderOptions, _ link: LinkRecorder, _ context: Context
    ) throws -> (reader: any Reader, id: String) {
        let writes = try VirtualWrites(options.virtualWrites, context)
        var isWaiting = false
        KeptProblem.current.begin(reader: options.reader ?? "")
        while true {
            do {
                let id = try chosen(options.reader)
                KeptProblem.current.begin(reader: id)
                try writes.check(id)
                context.detail(tr("reader \(id)", "リーダー \(id)"))
                return (
                    try open(
                        id, context.cancellation, command: context.command, recorder: link, keepCard: writes.keep), id
                )
            } catch let failure as CommandError {
                let failure = failure.about(variable: variable(options.reader))
                guard options.waitReader, failure.status == .noReader, failure.reason != "unsupported" else {
                    throw failure
                }
                if !isWaiting {
                    Interrupt.hold()
                    context.note(failure.message + tr("; waiting for it", "。接続されるまで待ちます"))
                }
                isWaiting = true
            }
            do throws(TransportError) {
                // Looks again each second as well: not every change of a device is reported.
                _ = try ReaderRegistry.notices(context.cancellation).wait(within: .seconds(1))
            } catch {
                throw CommandError(error)
            }
        }
    }

    /// The variable that names the reader, where it does.
    private static func variable(_ id: String?) -> String? {
        id == nil && ReaderRegistry.namedReader != nil ? "KAZASU_READER" : nil
    }

    /// The reader to use: the one that was named, else that of the environment, else the first that is ready.
    package static func chosen(_ id: String?) throws(CommandError) -> String {
        do throws(KazasuError) {
            return try ReaderRegistry.choose(id)
        } catch {
            throw CommandError(error)
        }
    }

    /// Opens a reader of any kind.
    ///
    /// - Parameters:
    ///   - command: the section of a recording to replay; `nil` replays the first.
    ///   - recorder: receives the traffic between the computer and the reader.
    ///   - keepCard: receives the file of a virtual card as it is when the reader is closed.
    package static func open(
        _ id: String, _ cancellation: CancellationToken, command: String? = nil, recorder: LinkRecorder? = nil,
        keepCard: ((KeptCard) -> Void)? = nil
    ) throws -> any Reader {
        let isVirtual = id.hasPrefix(VirtualDriver.prefix)
        var options = ReaderRegistry.Options(
            cancellation: cancellation, recorder: recorder, command: command,
            readFile: { path, limit in
                guard !path.isEmpty else { throw CommandError.emptyName(id) }
                return isVirtual ? try DumpFile.cardFile(path, limit: limit) : try Files.read(path, limit: limit)
            }, willOpen: Interrupt.hold)
        options.keepCard = keepCard
        do {
            return try ReaderRegistry.open(id, options)
        } catch KazasuError.reader(let error, let id) {
            throw CommandError.opening(id, error)
        } catch let error as KazasuError {
            throw CommandError(error)
        }
    }
}

/// Runs work with a reader and closes it, even when the work fails.
package func closing<Value>(_ session: ReaderSession, _ work: (ReaderSession) throws -> Value) throws -> Value {
    defer { session.close() }
    return try work(session)
}

extension CardDump {
    /// Returns the dump with the program, the time and the reader.
    package func stamped(_ session: ReaderSession) -> CardDump {
        var dump = self
        dump.stamp(session)
        return dump
    }

    /// Records the program, the time and the reader.
    package mutating func stamp(_ session: ReaderSession) {
        tool = "kazasu \(RootCommand.version)"
        readAt = Timestamp.now.text(.local, .seconds)
        reader = session.reader.information.id
        RedactionGate.shared.learn(self)
    }
}
