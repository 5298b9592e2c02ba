// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
internal import Synchronization

/// What passed between the computer and a reader, as the lowest layer of a driver saw it: a line `"op":"link"` of a
/// report.
///
/// A transfer of the USB for a PaSoRi; what libnfc writes to and reads from its bus; a command to pcscd and its answer.
package struct LinkEvent: Hashable, Sendable {
    /// What passed.
    package enum Content: Hashable, Sendable {
        /// To the reader.
        case sent([UInt8])
        /// From the reader.
        case received([UInt8])
        /// A transfer failed; the driver's own word for how.
        case failed(String)
        /// Something that the driver did or that its library logged.
        case note(String)
    }

    /// When, since the recording began.
    package var time: Duration
    /// What passed.
    package var content: Content
    /// Whether the bytes were replaced by 00 because nobody may read them.
    package var isMasked = false

    /// An event.
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

    init(json: JSONCursor) throws(DocumentError) {
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

/// Collects what passes between the computer and a reader. Drivers write to it from any thread.
package final class LinkRecorder: Sendable {
    private let start = ContinuousClock.now
    private let events = Mutex<[LinkEvent]>([])

    /// A recorder whose clock starts now.
    package init() {}

    /// The time since the recorder was made.
    package var elapsed: Duration { ContinuousClock.now - start }

    /// Adds an event that has just happened.
    package func record(_ content: LinkEvent.Content) {
        let event = LinkEvent(time: elapsed, content)
        events.withLock { $0.append(event) }
    }

    /// Hands out what was recorded since the last call.
    package func take() -> [LinkEvent] {
        events.withLock { events in
            defer { events = [] }
            return events
        }
    }
}
