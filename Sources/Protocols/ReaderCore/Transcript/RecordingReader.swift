// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel
internal import Synchronization

/// A reader that forwards everything to another one and records the requests and results.
///
/// PINs and passwords are masked in the lines (``SecretMask``). Any new command with another secret must be added
/// there.
package final class RecordingReader: FollowedSearch, LongJobReader {
    private let reader: any Reader
    private let note: (TranscriptEntry) -> Void
    private let now: () -> Duration
    private var mask = SecretMask()

    /// - Parameters:
    ///   - reader: the reader that does the work.
    ///   - note: receives each request and its result.
    ///   - now: the time since any fixed moment, for ``TranscriptEntry/time``; by default a clock that starts now.
    package init(_ reader: any Reader, note: @escaping (TranscriptEntry) -> Void, now: (() -> Duration)? = nil) {
        self.reader = reader
        self.note = note
        let start = ContinuousClock.now
        self.now = now ?? { ContinuousClock.now - start }
    }

    /// Starts a transcript `kazasu.trace/1`; the first line is written immediately.
    ///
    /// - Parameters:
    ///   - redact: returns the entry to write in place of an entry; by default the entry itself.
    ///   - write: receives each line, without its newline.
    package convenience init(
        _ reader: any Reader, redact: @escaping (TranscriptEntry) -> TranscriptEntry = { $0 },
        now: (() -> Duration)? = nil, write: @escaping (String) -> Void
    ) {
        self.init(reader, note: { write(redact($0).line) }, now: now)
        write(Transcript.header(reader.information))
    }

    /// The properties of the underlying reader.
    package var information: ReaderInformation { reader.information }

    /// Looks for a card and records it.
    package func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        try activate(request, isFollowed: false)
    }

    /// The same; the recording does not say whether another search follows.
    package func activate(_ request: ActivationRequest, isFollowed: Bool) throws(TransportError) -> PICC? {
        let time = now()
        let result = Result { () throws(TransportError) in try reader.look(for: request, isFollowed: isFollowed) }
        if case .success(let picc) = result { mask.activated(picc) }
        record(time, .activate(request, result))
        return try result.get()
    }

    /// Sends a frame and records it.
    package func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        let time = now()
        let secret = mask.secret(in: frame)
        mask.follow(frame)
        let result = Result { () throws(TransportError) in try reader.transceive(frame, timeout: timeout) }
        let shown = result.map { answer in
            let hidden = mask.secretInAnswer(answer, to: frame)
            return answer.count < 2 ? answer : answer.enumerated().map { hidden.contains($0.offset) ? 0 : $0.element }
        }
        record(time, .transceive(frame, timeout: timeout, shown), masking: secret)
        return try result.get()
    }

    /// Waits for an event of the reader; nothing is recorded.
    package func waitForEvent(within time: Duration) throws(TransportError) -> Bool {
        try reader.waitForEvent(within: time)
    }

    /// Switches the field off and on; nothing is recorded.
    package func cyclePower() throws(TransportError) -> Bool { try reader.cyclePower() }

    /// Shows a signal; nothing is recorded.
    package func show(_ signal: ReaderSignal) throws(TransportError) -> Bool { try reader.show(signal) }

    /// Keeps the reader from beeping; nothing is recorded.
    package func silence() throws(TransportError) -> Bool { try reader.silence() }

    /// Announces a long job; nothing is recorded.
    package func beginLongJob() { reader.expectLongJob() }

    /// Closes the underlying reader; nothing is recorded.
    package func close() {
        reader.close()
    }

    private func record(_ time: Duration, _ event: TranscriptEntry.Event, masking secret: Range<Int>? = nil) {
        let entry = TranscriptEntry(time: time, event: event)
        note(secret.map(entry.masking) ?? entry)
    }
}

/// Finds the parts of a frame that must not appear in a transcript.
///
/// These are the data of VERIFY, the other PIN commands and ChangeKey of NXP's chips, also within ISO-DEP blocks, the password
/// of a Type 2 Tag, and what is written to block 87 of FeliCa Lite, its key. Of answers, these are what a My Number card has about its personal number: the
/// file with the number, and the one with its digest, from which the number can be found.
struct SecretMask {
    private var picc: PICC?
    private var personalNumber = PersonalNumberFiles()
    /// Whether a chained block began with a PIN command that the next one continues.
    private var continues = false

    /// Notes that a card was selected, or none was found: subsequent frames are of its kind.
    mutating func activated(_ picc: PICC?) {
        self.picc = picc
        continues = false
        personalNumber = PersonalNumberFiles()
    }

    /// Notes a frame that is sent, for the answers from now on.
    mutating func follow(_ frame: [UInt8]) {
        guard picc.map({ $0.technology != .felica && $0.isISODEP }) ?? true else { return }
        personalNumber.follow(frame)
    }

    /// Returns the range of the frame that contains a secret, or `nil`.
    ///
    /// For an unknown kind of card, frames count as APDUs.
    mutating func secret(in frame: [UInt8]) -> Range<Int>? {
        if let picc {
            if picc.technology == .felica { return SecretMask.sealed(in: frame) ?? SecretMask.cardKey(in: frame) }
            // PWD_AUTH of NTAG and Ultralight EV1.
            if !picc.isISODEP {
                if ClassicFrame.isAuthentication(frame) { return ClassicFrame.key }
                if frame.count == 18, frame[0] == 0xA0, ClassicFrame.isTrailer(frame[1]) { return 2..<frame.count }
                return frame.first == 0x1B && frame.count > 1 ? 1..<frame.count : nil
            }
        }
        return SecretMask.data(of: frame) ?? blockData(frame)
    }

    /// Returns the range of the answer that is a secret, too: PACK of a tag that accepted its password, key B in a trailer of
    /// MIFARE Classic, the contents of ``PersonalNumberFiles``.
    func secretInAnswer(_ answer: [UInt8], to frame: [UInt8]) -> Range<Int> {
        if let hidden = personalNumber.secret(in: answer) { return hidden }
        guard case .typeA(let target)? = picc, !target.isISODEP else { return 0..<0 }
        if frame.first == 0x1B { return 0..<2 }
        guard let sak = target.sak, sak & 0x18 != 0, frame.count == 2, frame[0] == 0x30 else { return 0..<0 }
        return ClassicFrame.isTrailer(frame[1]) ? 10..<16 : 0..<0
    }

    /// Returns the contents of a Write with DES, and of the commands that issue a card: among them are new keys, under a
    /// session key of 56 bits that anybody can find.
    private static func sealed(in packet: [UInt8]) -> Range<Int>? {
        guard packet.count > 2, [0x16, 0x80, 0x82, 0x84].contains(packet[1]) else { return nil }
        return 2..<packet.count
    }

    /// Returns the range of the data of a Write Without Encryption whose Block List has block 87.
    ///
    /// In any system, since the frame does not say which one it is for; a list that cannot be read counts as one.
    private static func cardKey(in packet: [UInt8]) -> Range<Int>? {
        guard packet.count > 11, packet[1] == 0x08 else { return nil }
        var place = 11 + 2 * Int(packet[10])
        guard place < packet.count else { return 11..<packet.count }
        var (left, hasKey) = (Int(packet[place]), false)
        place += 1
        while left > 0 {
            guard place + 1 < packet.count else { return min(place, packet.count - 1)..<packet.count }
            let isShort = packet[place] & 0x80 != 0
            let isLow = isShort || place + 2 < packet.count && packet[place + 2] == 0
            if packet[place + 1] == 0x87, isLow { hasKey = true }
            place += isShort ? 2 : 3
            left -= 1
        }
        return hasKey && place < packet.count ? place..<packet.count : nil
    }

    /// Returns the range after the header of a PIN command.
    private static func data(of apdu: some RandomAccessCollection<UInt8>) -> Range<Int>? {
        guard let code = apdu.dropFirst().first, apdu.count > 5 else { return nil }
        // ChangeKey of NXP's chips: with the factory's key anybody could decipher the new one.
        if apdu.first == 0x90, code == 0xC4 { return min(6, apdu.count - 1)..<apdu.count }
        return Instruction(rawValue: code).needsGuard ? 4..<apdu.count : nil
    }

    /// Returns the same for an I-block, of which a chain may have several.
    private mutating func blockData(_ frame: [UInt8]) -> Range<Int>? {
        guard let pcb = frame.first, pcb & 0xE2 == 0x02 else { return nil }
        let start = 1 + (pcb & 0x08 != 0 ? 1 : 0) + (pcb & 0x04 != 0 ? 1 : 0)
        guard frame.count > start else { return nil }
        let isContinuation = continues
        let secret = SecretMask.data(of: frame[start...])
        continues = pcb & 0x10 != 0 && (isContinuation || secret != nil)
        if isContinuation { return start..<frame.count }
        return secret.map { start + $0.lowerBound..<frame.count }
    }
}

/// Follows the selected file of a card, for the answers that hold its holder's personal number or the digest of it.
///
/// Source: law; soltia48/myna-card for the files.
private struct PersonalNumberFiles {
    /// 券面事項入力補助 0001 and 0003, by the last byte of their identifiers, which is the short identifier, too.
    private static let files: Set<UInt8> = [0x01, 0x03]

    private var isApplication = false
    /// The last byte of the identifier of the current file.
    private var file: UInt8?
    /// Whether the answer to the last frame holds contents of such a file.
    private var isSecret = false
    /// Whether the last frame was a block of ISO-DEP.
    private var isBlock = false

    mutating func follow(_ frame: [UInt8]) {
        guard let first = frame.first else { return }
        // Blocks other than I-blocks fetch the rest of an answer.
        if first & 0xE2 == 0x02 {
            isBlock = true
            follow(apdu: Array(frame.dropFirst(1 + (first & 0x08 != 0 ? 1 : 0) + (first & 0x04 != 0 ? 1 : 0))))
        } else if frame.count >= 4 {
            isBlock = false
            follow(apdu: frame)
        }
    }

    private mutating func follow(apdu: [UInt8]) {
        guard apdu.count >= 4 else { return }
        let data = apdu.count > 5 ? Array(apdu.dropFirst(5).prefix(Int(apdu[4]))) : []
        isSecret = false
        switch apdu[1] {
        case 0xA4:
            let name = MyNumberApplication.cardInput.aid?.bytes ?? []
            if apdu[2] == 0x04 {
                // A part of the name selects it, too.
                isApplication = data.count >= 5 && data.starts(with: name.prefix(data.count))
                file = nil
            } else {
                file = data.last
            }
        case 0xB0, 0xB1:
            if apdu[1] == 0xB0, apdu[2] & 0x80 != 0 { file = apdu[2] & 0x1F }
            if apdu[1] == 0xB1, apdu[2] != 0 || apdu[3] != 0 { file = apdu[3] }
            isSecret = isHidden
        case 0xC0: isSecret = isHidden
        default: break
        }
    }

    private var isHidden: Bool { isApplication && (file.map(Self.files.contains) ?? false) }

    /// All of an answer but the first byte of a block and the status word; `nil` if it is not a secret.
    func secret(in answer: [UInt8]) -> Range<Int>? {
        guard isSecret, let first = answer.first else { return nil }
        guard isBlock else { return 0..<max(0, answer.count - 2) }
        // Only the last block of a chain has the status word.
        return first & 0x10 == 0 ? 1..<max(1, answer.count - 2) : 1..<answer.count
    }
}

/// Traffic between the computer and a reader, as seen by the lowest layer of a driver.
///
/// It is a line `"op":"link"` of a report: a USB transfer for a PaSoRi; what libnfc writes to and reads from its bus; a
/// command to pcscd and its answer.
package struct LinkEvent: Hashable, Sendable {
    /// The kinds of event.
    package enum Content: Hashable, Sendable {
        /// To the reader.
        case sent([UInt8])
        /// From the reader.
        case received([UInt8])
        /// A transfer failed; contains the driver's own description.
        case failed(String)
        /// Something that the driver did or its library logged.
        case note(String)
    }

    /// The time since the recording began.
    package var time: Duration
    package var content: Content
    /// Whether the bytes were replaced by 00 because they are secret.
    package var isMasked = false

    package init(time: Duration, _ content: Content) {
        self.time = time
        self.content = content
    }

    /// The event as one line of `kazasu.trace/1`, without a newline.
    package var line: String {
        var object = JSONObject([("t", .milliseconds(time)), ("op", "link")])
        switch content {
        case .sent(let bytes): object["tx"] = .string(Hex.encode(bytes))
        case .received(let bytes): object["rx"] = .string(Hex.encode(bytes))
        case .failed(let word): object["error"] = .string(word)
        case .note(let text): object["note"] = .string(text)
        }
        if isMasked { object["masked"] = true }
        return JSONValue.object(object).compactText
    }

    package init(json: JSONCursor) throws(DocumentError) {
        time = try json.required("t").milliseconds()
        if let bytes = try json.optional("tx") {
            content = .sent(try bytes.bytes())
        } else if let bytes = try json.optional("rx") {
            content = .received(try bytes.bytes())
        } else if let word = try json.optional("error") {
            content = .failed(try word.text())
        } else {
            content = .note(try json.required("note").text())
        }
        isMasked = try json.optional("masked")?.bool() ?? false
    }
}

/// Collects the traffic between the computer and a reader. Drivers write to it from any thread.
package final class LinkRecorder: Sendable {
    /// Whether the log of a library is wanted, which is more work for it.
    package let wantsLogs: Bool
    private let start = ContinuousClock.now
    private let events = Mutex<[LinkEvent]>([])

    package init(wantsLogs: Bool = true) { self.wantsLogs = wantsLogs }

    /// The time since the recorder was made.
    package var elapsed: Duration { ContinuousClock.now - start }

    /// Records an event that has just happened.
    package func record(_ content: LinkEvent.Content) {
        let event = LinkEvent(time: elapsed, content)
        events.withLock { $0.append(event) }
    }

    /// Returns what was recorded since the last call, and removes it.
    package func take() -> [LinkEvent] {
        events.withLock { events in
            defer { events = [] }
            return events
        }
    }

    /// The same without what a driver or its library says about the traffic.
    package func takeFrames() -> [LinkEvent] {
        take().filter { if case .note = $0.content { false } else { true } }
    }
}
