// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
package import ReaderCore

/// A reader that replays a transcript. The same requests in the same order give the same answers, and any other request
/// is an error that names the expected one. Time-outs are not compared, and there are no waits.
///
/// The number of searches without a card depends on the elapsed time, and so does the number of each request in a
/// transcript. So searches that found nothing can be left out, and between two exchanges a search can be repeated: it
/// finds the same as before. A search that found nothing elsewhere in the transcript finds nothing where it was not
/// recorded, and so does a Polling for the transit system, since searches may begin with it. A card that answered a Polling
/// at 424 kbit/s answers the same one at 212, too. A search that found again what the same search had found can be left out:
/// earlier versions searched more often.
package final class ReplayReader: Reader {
    /// The properties of the recorded reader, from the transcript.
    package let information: ReaderInformation
    private var waiting: ArraySlice<Transcript.Line>
    /// The searches since the last exchange, and their results.
    private var looks: [ActivationRequest: PICC?] = [:]
    /// The searches that found nothing at least once.
    private let empty: Set<ActivationRequest>
    private let cancellation: CancellationToken

    package init(_ transcript: Transcript, cancellation: CancellationToken = CancellationToken()) {
        information = transcript.reader
        waiting = transcript.lines[...]
        empty = Set(
            transcript.lines.compactMap {
                if case .activate(let request, let result) = $0.entry.event, result.isEmpty { request } else { nil }
            })
        self.cancellation = cancellation
    }

    /// Returns the recorded result of the same search.
    ///
    /// - Throws: `TransportError.outOfScript(detail:)` when another request was recorded there, and the
    ///   recorded error.
    package func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        try cancellation.check()
        for (place, line) in waiting.enumerated() {
            guard case .activate(let recorded, let result) = line.entry.event else { break }
            if recorded == request {
                waiting = waiting.dropFirst(place + 1)
                looks[request] = .some(try? result.get())
                return try result.get()
            }
            if case .felica(let system, let code, let slots, .kbps424) = recorded,
                request == .felica(system, requestCode: code, timeSlots: slots, bitRate: .kbps212),
                case .success(.felica(var target)) = result
            {
                target.bitRate = .kbps212
                looks[request] = .some(.felica(target))
                return .felica(target)
            }
            guard result.isEmpty else { break }
        }
        if let known = looks[request] { return known }
        let line = try next { FrameText.of(request) }
        guard case .activate = line.entry.event, isTransit(request) || empty.contains(request) else {
            throw ReplayReader.mismatch(line, FrameText.of(request))
        }
        looks[request] = .some(nil)
        return nil
    }

    private func isTransit(_ request: ActivationRequest) -> Bool {
        if case .felica(.transit, _, _, _) = request { true } else { false }
    }

    /// Returns the recorded answer to the same frame.
    ///
    /// - Throws: `TransportError.outOfScript(detail:)` when another request was recorded there, and the
    ///   recorded error.
    package func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        skipRepeatedSearches()
        let line = try next { FrameText.of(frame) }
        guard case .transceive(let recorded, _, let result) = line.entry.event,
            ReplayReader.matches(recorded, frame, except: line.entry.masked)
        else {
            throw ReplayReader.mismatch(line, FrameText.of(frame), at: ReplayReader.difference(line.entry.event, frame))
        }
        waiting = waiting.dropFirst()
        looks = [:]
        return try result.get()
    }

    /// Leaves out searches before the next exchange if none of them found anything new.
    private func skipRepeatedSearches() {
        let searches = waiting.prefix {
            guard case .activate(let request, let result) = $0.entry.event else { return false }
            return result.isEmpty || looks[request] == .some(try? result.get())
        }
        let rest = waiting.dropFirst(searches.count)
        if case .transceive? = rest.first?.entry.event { waiting = rest }
    }

    /// Does nothing: what was recorded after the field was off comes next.
    package func cyclePower() throws(TransportError) -> Bool { true }

    /// Does nothing: there is nothing to close.
    package func close() {}

    /// Returns the parts of the transcript that were not requested; empty when all of them were.
    package func finish() -> [String] {
        waiting.map { "line \($0.number): never asked: \(FrameText.of($0.entry.event))" }
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
