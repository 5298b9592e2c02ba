// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
package import ReaderCore
internal import VirtualCards
internal import VirtualChips

/// A reader that replays a transcript. Commands that may change a card or read its blocks have to come in the recorded
/// order, and any other request is an error that names the expected one. Time-outs are not compared, and there are no waits.
///
/// The number and order of the other requests depend on the elapsed time and on the version of Kazasu that asks. So
/// searches that found nothing can be left out, and between two exchanges a search can be repeated: it finds the same as
/// before. A search that found nothing elsewhere in the transcript finds nothing where it was not recorded, and so does a
/// Polling for the transit system, since searches may begin with it. A card that answered a Polling at 424 kbit/s answers
/// the same one at 212, too. Once a card was found, other Pollings of it and questions about its nodes (``RecordedNodes``)
/// may come in any order. A question without a recorded answer fails as the next recorded question of its kind did.
///
/// An answer whose contents a masked recording leaves out is an error, and never zeros.
package final class ReplayReader: Reader {
    /// The properties of the recorded reader, from the transcript.
    package let information: ReaderInformation
    private var waiting: ArraySlice<Transcript.Line>
    /// The searches since the last exchange, and their results.
    private var looks: [ActivationRequest: PICC?] = [:]
    /// All searches so far, and their latest results.
    private var seen: [ActivationRequest: PICC?] = [:]
    /// The card that was found last.
    private var card: PICC?
    /// The searches that found nothing at least once.
    private let empty: Set<ActivationRequest>
    private let nodes: RecordedNodes
    /// The questions that were answered out of order.
    private var asked: Set<[UInt8]> = []
    private let cancellation: CancellationToken

    package init(_ transcript: Transcript, cancellation: CancellationToken = CancellationToken()) {
        information = transcript.reader
        waiting = transcript.lines[...]
        empty = Set(
            transcript.lines.compactMap {
                if case .activate(let request, let result) = $0.entry.event, result.isEmpty { request } else { nil }
            })
        nodes = RecordedNodes(transcript.lines)
        self.cancellation = cancellation
    }

    // MARK: Searches

    /// Returns the recorded result of the same search.
    ///
    /// - Throws: `TransportError.outOfScript(detail:)` when another request was recorded there, and the
    ///   recorded error.
    package func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        try cancellation.check()
        for (place, line) in waiting.enumerated() {
            guard case .activate(let recorded, let result) = line.entry.event else { break }
            if recorded == request {
                skip(waiting.prefix(place))
                waiting = waiting.dropFirst(place + 1)
                note(request, try? result.get())
                return try result.get()
            }
            if let slower = ReplayReader.slower(recorded, result, request) { return note(request, slower) }
            guard result.isEmpty else { break }
        }
        if let known = looks[request] { return known }
        let line = try next { FrameText.of(request) }
        if let known = seen[request] ?? later(request) { return note(request, known) }
        guard isSearch(line), isTransit(request) || empty.contains(request) else {
            throw ReplayReader.mismatch(line, FrameText.of(request))
        }
        return note(request, nil)
    }

    @discardableResult
    private func note(_ request: ActivationRequest, _ found: PICC?) -> PICC? {
        looks[request] = .some(found)
        seen[request] = .some(found)
        if let found { card = found }
        return found
    }

    /// The answer to a Polling at 424 kbit/s as one to the same Polling at 212.
    private static func slower(
        _ recorded: ActivationRequest, _ result: Result<PICC?, TransportError>, _ request: ActivationRequest
    ) -> PICC? {
        guard case .felica(let system, let code, let slots, .kbps424) = recorded,
            request == .felica(system, requestCode: code, timeSlots: slots, bitRate: .kbps212),
            case .success(.felica(var target)) = result
        else { return nil }
        target.bitRate = .kbps212
        return .felica(target)
    }

    /// The result of the same search further on, if the same card is still there.
    private func later(_ request: ActivationRequest) -> PICC?? {
        guard let card else { return nil }
        for line in waiting {
            guard case .activate(let recorded, let result) = line.entry.event else { continue }
            if case .success(let found?) = result, !found.isSameFeliCaCard(as: card) { return nil }
            if recorded == request { return result.isEmpty ? .some(nil) : (try? result.get()).map { .some($0) } }
            if let slower = ReplayReader.slower(recorded, result, request) { return .some(slower) }
            if result.isEmpty, case .some(.some) = seen[recorded] { return nil }
        }
        return nil
    }

    /// Whether a search can come before this line: another search, or a question to the card that is there.
    private func isSearch(_ line: Transcript.Line) -> Bool {
        switch line.entry.event {
        case .activate: true
        case .transceive(let frame, _, _): card != nil && RecordedNodes.isQuestion(frame)
        }
    }

    private func isTransit(_ request: ActivationRequest) -> Bool {
        if case .felica(.transit, _, _, _) = request { true } else { false }
    }

    // MARK: Exchanges

    /// Returns the recorded answer to the same frame.
    ///
    /// - Throws: `TransportError.outOfScript(detail:)` when another request was recorded there, and the
    ///   recorded error.
    package func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        let line = try next { FrameText.of(frame) }
        let isQuestion = RecordedNodes.isQuestion(frame)
        let place = waiting.firstIndex { !isSkippable($0, before: frame, isQuestion) }
        if let place, case .transceive(let recorded, _, let result) = waiting[place].entry.event,
            ReplayReader.matches(recorded, frame, except: waiting[place].entry.masked)
        {
            return try play(place, result)
        }
        if card != nil, isQuestion {
            if let answer = nodes.answer(to: frame) {
                asked.insert(frame)
                looks = [:]
                return answer
            }
            if let failure = failure(like: frame) { return try play(failure.place, failure.result) }
        }
        throw ReplayReader.mismatch(line, FrameText.of(frame), at: ReplayReader.difference(line.entry.event, frame))
    }

    private func play(
        _ place: Int, _ result: Result<[UInt8], TransportError>
    ) throws(TransportError) -> [UInt8] {
        let line = waiting[place]
        skip(waiting[..<place])
        waiting = waiting[place...].dropFirst()
        looks = [:]
        guard !line.entry.leavesOutContents else {
            throw .outOfScript(detail: .init(.transcriptLeavesOut, "\(line.number)"))
        }
        return try result.get()
    }

    /// Keeps the results of searches that are left out.
    private func skip(_ lines: ArraySlice<Transcript.Line>) {
        for line in lines {
            if case .activate(let request, let result) = line.entry.event { seen[request] = .some(try? result.get()) }
        }
    }

    /// Whether the line may be left out before this frame: a search that found nothing or the card that is there, and a
    /// question that can still be answered.
    private func isSkippable(_ line: Transcript.Line, before frame: [UInt8], _ isQuestion: Bool) -> Bool {
        switch line.entry.event {
        case .activate(let request, let result):
            guard case .success(let found?) = result else { return card != nil && result.isEmpty }
            guard let card else { return false }
            return looks[request] == .some(found) || found.isSameFeliCaCard(as: card)
        case .transceive(let recorded, _, _):
            return !isQuestion && card != nil && nodes.answer(to: recorded) != nil
        }
    }

    /// The next question that was not answered, if it is of the same kind and of the same system.
    private func failure(like frame: [UInt8]) -> (place: Int, result: Result<[UInt8], TransportError>)? {
        for (place, line) in zip(waiting.indices, waiting) {
            guard case .transceive(let recorded, _, let result) = line.entry.event else { continue }
            guard RecordedNodes.isQuestion(recorded) else { return nil }
            guard nodes.answer(to: recorded) == nil else { continue }
            return recorded[1..<10] == frame[1..<10] ? (place, result) : nil
        }
        return nil
    }

    /// Does nothing: what was recorded after the field was off comes next.
    package func cyclePower() throws(TransportError) -> Bool { true }

    /// Does nothing: there is nothing to close.
    package func close() {}

    /// Returns the parts of the transcript that were not requested; empty when all of them were.
    package func finish() -> [String] {
        waiting.filter { line in
            if case .transceive(let frame, _, _) = line.entry.event { !asked.contains(frame) } else { true }
        }.map { "line \($0.number): never asked: \(FrameText.of($0.entry.event))" }
    }

    private func next(_ asked: () -> String) throws(TransportError) -> Transcript.Line {
        try cancellation.check()
        guard let line = waiting.first else {
            throw .outOfScript(detail: .init(.transcriptEnded, asked()))
        }
        return line
    }

    /// The two texts can be equal, because parts are left out of them, so the first different byte is named as well.
    private static func mismatch(_ line: Transcript.Line, _ asked: String, at place: Int? = nil) -> TransportError {
        let (number, recorded) = ("\(line.number)", FrameText.of(line.entry.event))
        guard let place else { return .outOfScript(detail: .init(.transcriptDiffers, number, recorded, asked)) }
        return .outOfScript(detail: .init(.transcriptDiffersAt, number, recorded, asked, "\(place)"))
    }

    private static func difference(_ event: TranscriptEntry.Event, _ frame: [UInt8]) -> Int? {
        guard case .transceive(let recorded, _, _) = event else { return nil }
        return zip(recorded, frame).enumerated().first { $1.0 != $1.1 }?.offset
    }

    private static func matches(_ recorded: [UInt8], _ frame: [UInt8], except masked: Range<Int>?) -> Bool {
        recorded.count == frame.count
            && zip(recorded, frame).enumerated().allSatisfy { place, pair in
                pair.0 == pair.1 || masked?.contains(place) == true
            }
    }
}

extension Result<PICC?, TransportError> {
    /// Whether it is the result of a search that selected nothing, whatever was heard.
    fileprivate var isEmpty: Bool {
        switch self {
        case .success(nil), .failure(.heard): true
        default: false
        }
    }
}

extension PICC {
    /// Whether both are systems of one FeliCa card: their IDms differ in the first four bits at most.
    fileprivate func isSameFeliCaCard(as other: PICC) -> Bool {
        guard case .felica(let one) = self, case .felica(let two) = other else { return false }
        return one.idm.isSameCard(as: two.idm)
    }
}

/// Describes a request in an error message, without its personal data.
enum FrameText {
    static func of(_ event: TranscriptEntry.Event) -> String {
        switch event {
        case .activate(let request, _): of(request)
        case .transceive(let frame, _, _): of(frame)
        }
    }

    static func of(_ request: ActivationRequest) -> String {
        switch request {
        case .felica(let system, let requestCode, let timeSlots, let bitRate):
            "activate \(system) (request code \(requestCode), time slots \(timeSlots), \(bitRate.rawValue) kbit/s)"
        case .typeA(let isoDEP): isoDEP ? "activate type A" : "activate type A without ISO-DEP"
        case .typeB(let family): "activate type B (application family \(family))"
        }
    }

    /// FeliCa packets without the IDm; of other frames only the first four bytes, since a PIN may follow.
    static func of(_ frame: [UInt8]) -> String {
        guard let length = frame.element(at: 0), Int(length) == frame.count, let code = frame.element(at: 1) else {
            return "transceive \(Hex.encode(frame.prefix(4)))… (\(frame.count) bytes)"
        }
        guard frame.count >= 10, CommandCode(rawValue: code)?.carriesIDm != false else {
            return "transceive \(Hex.encode(frame))"
        }
        let parameters = frame.count > 10 ? " \(Hex.encode(frame.dropFirst(10)))" : ""
        return "transceive \(Hex.encode(frame.prefix(2))) <IDm>\(parameters)"
    }
}
