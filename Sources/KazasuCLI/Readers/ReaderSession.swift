// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import Glibc
import NFCTransport
import ReaderDiagnosis
import VirtualReader

/// The reader of one command, and the card that it waits for.
final class ReaderSession {
    let reader: any Reader
    let timeout: CardTimeout
    /// Whether the user said how long to wait.
    let isTimeoutGiven: Bool
    let context: Context
    private let trace: TraceFile?

    /// Opens the reader that the options, the environment or the plugged-in devices name.
    ///
    /// From here on a signal no longer ends the process but cancels the work, to the end of the command: the reader is
    /// given back, and what was read is told.
    init(_ options: ReaderOptions, _ context: Context) throws {
        timeout = options.timeout ?? .usual
        isTimeoutGiven = options.timeout != nil
        if let lent = context.lent {
            (reader, self.context, trace) = (lent.reader, context, nil)
            return
        }
        let id = try ReaderSession.chosen(options.reader)
        self.context = context
        context.detail(tr("reader \(id)", "リーダー \(id)"))
        let opened = try ReaderSession.open(id, context.cancellation, command: context.command)
        if let path = options.trace {
            let trace: TraceFile
            do {
                trace = try TraceFile(path)
            } catch {
                opened.close()
                throw error
            }
            self.trace = trace
            let redaction = TraceRedaction(context.redaction)
            reader = RecordingReader(opened, redact: redaction.apply) { trace.write($0) }
        } else {
            trace = nil
            reader = opened
        }
    }

    /// Closes the reader and finishes the trace. A trace that cannot be written does not take the answer with it.
    func close() {
        reader.close()
        context.attempt { () throws(Failure) in try trace?.close() }
    }

    /// Waits for a card with one of these systems.
    ///
    /// - Throws: ``Failure`` with status 75 when none came, 76 when another card is there.
    func find(_ codes: [SystemCode], requestCode: UInt8 = 1) throws(Failure) -> (FeliCaTarget, SystemCode) {
        let finder = CardFinder(reader: reader, cancellation: context.cancellation)
        return try wait(for: .felica) { time throws(ReadingError) in
            switch try finder.find(codes, requestCode: requestCode, timeout: time) {
            case .found(let target, let code): .found((target, code))
            case .other(let target): .other(Failure.otherCard(target, wanted: codes))
            case .nothing: .nothing
            }
        }
    }

    /// A session with the card.
    func card(_ target: FeliCaTarget) -> CardSession {
        CardSession(reader: reader, target: target, cancellation: context.cancellation)
    }

    /// The reader that is meant: the one that was named, else that of the environment, else the first that is ready.
    static func chosen(_ id: String?) throws(Failure) -> String {
        if let id = id ?? environment("KAZASU_READER") { return id }
        return try firstReady()
    }

    /// Opens a reader of any kind.
    ///
    /// - Parameters:
    ///   - command: the command that is to be played of a report; `nil` plays the first.
    ///   - recorder: gets what passes between the computer and the reader.
    static func open(
        _ id: String, _ cancellation: CancellationToken, command: String? = nil, recorder: LinkRecorder? = nil
    ) throws -> any Reader {
        do {
            if let reader = try VirtualDriver(recorder: recorder).open(id, cancellation: cancellation) { return reader }
            if let reader = try ReplayDriver(command: command).open(id, cancellation: cancellation) { return reader }
            Interrupt.hold()
            if let reader = try ReaderDrivers.open(id, cancellation: cancellation, recorder: recorder) {
                return reader
            }
        } catch let error as TransportError {
            throw Failure.opening(id, error)
        }
        throw Failure(
            .usage, "unknownReader", tr("no reader has the ID \(id)", "リーダー ID \(id) は使えません"),
            hint: tr(
                "rcs380, rcs300, pcsc:NAME, pn532:PORT, a connection string of libnfc's, virtual:FILE or replay:FILE; see "
                    + "'kazasu readers'",
                "rcs380、rcs300、pcsc:名前、pn532:ポート、libnfc の接続文字列、virtual:ファイル、replay:ファイル。'kazasu readers' を参照"))
    }

    private static func firstReady() throws(Failure) -> String {
        let (ready, listings) = ReaderDrivers.firstReady()
        if let ready { return ready.id }
        // Whoever told libnfc of a serial port means it.
        if let configured = listings.first(where: { $0.isConfigured && $0.state == .unknown }) { return configured.id }
        for listing in listings where !ChipCardServiceFault.serves(listing.id) {
            if case .unavailable(let reason, let detail) = listing.state {
                throw Failure(
                    TransportError.readerUnavailable(reason: reason, detail: "\(listing.id): \(detail)"),
                    isOpening: true)
            }
        }
        if let name = Doctor(Machine()).readersOfService().first, let fault = ChipCardServiceFault.now() {
            throw Failure(
                .noReader, fault.reason.rawValue,
                tr("\(name) needs pcscd: \(fault.message)", "\(name) には pcscd が必要です（\(fault.message)）"),
                hint: fault.remedy)
        }
        if let port = listings.first {
            throw Failure(
                .noReader, "absent",
                tr("no reader is plugged in that shows itself", "自動で見つかるリーダーがありません"),
                hint: tr(
                    "a PN532 may be behind \(port.id): give --reader \(port.id)", "PN532 かもしれません: --reader \(port.id)"))
        }
        throw Failure(
            TransportError.readerUnavailable(reason: .absent, detail: "none is plugged in"), isOpening: true)
    }

    private static func environment(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }
}

extension Failure {
    /// No card came in time.
    static func noCard() -> Failure {
        Failure(
            .noCard, "noCard", tr("no card came in time", "時間内にカードが置かれませんでした"),
            hint: tr(
                "put one card flat on the reader; --timeout SECONDS or --timeout forever waits longer",
                "カードを 1 枚だけ平らに置いてください。--timeout 秒 または --timeout forever で長く待てます"))
    }

    /// A card is there, but not one that the command can read.
    static func otherCard(_ target: FeliCaTarget, wanted: [SystemCode]) -> Failure {
        let code = target.requestData.map { SystemCode(rawValue: $0) }
        let found = code.map { CardNames.mention($0) } ?? "FeliCa"
        let codes = wanted.map(\.description).joined(separator: ", ")
        guard !wanted.isEmpty else {
            return Failure(
                .otherCard, "otherCard",
                tr(
                    "a card is there (\(found)), but not one that this command knows",
                    "カードはあります（\(found)）が、このコマンドが知らない種類です"),
                hint: tr("'kazasu scan' shows what is on it", "'kazasu scan' で中身を確認できます"))
        }
        return Failure(
            .otherCard, "otherCard",
            tr(
                "a card is there (\(found)), but none of its systems is \(codes)",
                "カードはあります（\(found)）が、システム \(codes) がありません"),
            hint: tr("'kazasu scan' shows what is on it", "'kazasu scan' で中身を確認できます"))
    }
}

/// Does work with a reader and closes it, also when the work fails.
func closing<Value>(_ session: ReaderSession, _ work: (ReaderSession) throws -> Value) throws -> Value {
    defer { session.close() }
    return try work(session)
}

extension CardDump {
    /// Notes what read it, when, and with which reader.
    mutating func stamp(_ session: ReaderSession) {
        tool = "kazasu \(Kazasu.version)"
        readAt = Clock.localTime()
        reader = session.reader.information.id
    }
}

/// The file that `--trace` writes, line by line, so that it is whole up to the last exchange whatever happens.
final class TraceFile {
    private let path: String
    private var descriptor: Int32
    private var failed: Int32 = 0

    init(_ path: String) throws(Failure) {
        self.path = path
        descriptor = Descriptor.openForWriting(path)
        guard descriptor >= 0 else { throw TraceFile.failure(path, errno) }
    }

    func write(_ line: String) {
        guard failed == 0 else { return }
        failed = Descriptor.write(line + "\n", to: descriptor)
    }

    func close() throws(Failure) {
        guard descriptor >= 0 else { return }
        if Glibc.close(descriptor) != 0, failed == 0 { failed = errno }
        descriptor = -1
        if failed != 0 { throw TraceFile.failure(path, failed) }
    }

    private static func failure(_ path: String, _ error: Int32) -> Failure {
        error == EINTR ? .cancelled() : .unwritable(path, error)
    }

    deinit {
        if descriptor >= 0 { Glibc.close(descriptor) }
    }
}
