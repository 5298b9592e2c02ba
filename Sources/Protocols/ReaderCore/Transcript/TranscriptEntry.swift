// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// One request to a reader and its result.
package struct TranscriptEntry: Hashable, Sendable {
    /// The kinds of request.
    package enum Event: Hashable, Sendable {
        /// A card was looked for; `nil` means that none answered.
        case activate(ActivationRequest, Result<PICC?, TransportError>)
        /// A frame was sent to the card.
        case transceive([UInt8], timeout: Duration, Result<[UInt8], TransportError>)
    }

    /// The time of the request since the transcript began; written in milliseconds with microseconds after the point.
    package var time: Duration
    /// The request and the result.
    package var event: Event
    /// The bytes of the frame that were replaced by 00 because they are secret, such as a PIN.
    ///
    /// They are not compared when the transcript is replayed.
    package private(set) var masked: Range<Int>?
    /// How long the answer took, where it was measured.
    package var took: Duration?
    /// Whether bytes of the answer were replaced by 00 because they are contents of the card. Such an answer is not
    /// replayed.
    package var leavesOutContents = false

    package init(time: Duration, event: Event) {
        self.time = time
        self.event = event
    }

    /// Returns the entry with these bytes of the frame replaced by 00; nonexistent bytes are ignored.
    package func masking(_ bytes: Range<Int>) -> TranscriptEntry {
        guard case .transceive(var frame, let timeout, let result) = event else { return self }
        let places = bytes.clamped(to: 0..<frame.count)
        for place in places { frame[place] = 0 }
        var entry = self
        entry.event = .transceive(frame, timeout: timeout, result)
        entry.masked = places.isEmpty ? nil : places
        return entry
    }
}

extension TranscriptEntry {
    /// The entry as one line of `kazasu.trace/1`, without a newline.
    package var line: String {
        var object = JSONObject([("t", .milliseconds(time))])
        switch event {
        case .activate(let request, let result):
            object["op"] = "activate"
            object["request"] = request.json
            switch result {
            case .success(let picc): object["picc"] = picc?.json ?? .null
            case .failure(let error): object.merge(error.json)
            }
        case .transceive(let frame, let timeout, let result):
            object["op"] = "transceive"
            object["tx"] = .string(Hex.encode(frame))
            if let masked {
                object["masked"] = ["from": .int(masked.lowerBound), "count": .int(masked.count)]
            }
            object["timeoutMs"] = .milliseconds(timeout)
            switch result {
            case .success(let answer): object["rx"] = .string(Hex.encode(answer))
            case .failure(let error): object.merge(error.json)
            }
            if leavesOutContents { object["left"] = true }
        }
        if let took { object["tookMs"] = .milliseconds(took) }
        return JSONValue.object(object).compactText
    }

    package init(json: JSONCursor) throws(DocumentError) {
        let time = try json.required("t").milliseconds()
        let operation = try json.required("op")
        switch try operation.text() {
        case "activate":
            let request = try ActivationRequest(json: json.required("request"))
            let result: Result<PICC?, TransportError>
            if let error = try TransportError(json: json) {
                result = .failure(error)
            } else {
                result = .success(try json.optional("picc").map { picc throws(DocumentError) in try PICC(json: picc) })
            }
            self.init(time: time, event: .activate(request, result))
            took = try json.optional("tookMs")?.milliseconds()
        case "transceive":
            let frame = try json.required("tx").bytes()
            let timeout = try json.required("timeoutMs").milliseconds()
            let result: Result<[UInt8], TransportError>
            if let error = try TransportError(json: json) {
                result = .failure(error)
            } else {
                result = .success(try json.required("rx").bytes())
            }
            self.init(time: time, event: .transceive(frame, timeout: timeout, result))
            took = try json.optional("tookMs")?.milliseconds()
            leavesOutContents = try json.optional("left")?.bool() ?? false
            guard let masked = try json.optional("masked"), !frame.isEmpty else { return }
            let from = try masked.required("from").integer(in: 0...frame.count - 1)
            self = masking(from..<from + (try masked.required("count").integer(in: 1...frame.count - from)))
        default: throw operation.malformed(.oneOf, "activate", "transceive")
        }
    }
}
