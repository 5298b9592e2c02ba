// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// One application of an ISO 7816 card in a dump.
public struct ApplicationDump: Hashable, Sendable {
    /// The AID; `nil` for the files of the master file.
    public var aid: AID?
    /// The data of the card's response to SELECT, if any.
    public var selectAnswer: [UInt8]?
    /// Its files in the order in which they were read.
    public var files: [FileDump]
    /// Members of the document that are unknown to this version.
    package var extra: JSONObject

    package init(
        aid: AID?, selectAnswer: [UInt8]? = nil, files: [FileDump] = [], extra: JSONObject = JSONObject()
    ) {
        self.aid = aid
        self.selectAnswer = selectAnswer
        self.files = files
        self.extra = extra
    }

    /// Makes an application with the files that were read; `aid` is `nil` for the master file.
    public init(aid: AID?, selectAnswer: [UInt8]? = nil, files: [FileDump]) {
        self.init(aid: aid, selectAnswer: selectAnswer, files: files, extra: JSONObject())
    }

    /// Returns the first file with this identifier.
    public func file(_ id: FileIdentifier) -> FileDump? {
        files.first { $0.id == id }
    }
}

/// One elementary file of an application in a dump.
public struct FileDump: Hashable, Sendable {
    /// Its identifier.
    public var id: FileIdentifier
    /// Whether it was read.
    public var state: ReadState
    /// The data that was read, from the first byte.
    public var data: [UInt8]
    /// The card's report on the PIN stored in this file; `nil` for every other file.
    package var pin: CardPINState?
    /// Members of the document that are unknown to this version.
    package var extra: JSONObject

    package init(
        id: FileIdentifier, state: ReadState, data: [UInt8] = [], pin: CardPINState? = nil,
        extra: JSONObject = JSONObject()
    ) {
        self.id = id
        self.state = state
        self.data = data
        self.pin = pin
        self.extra = extra
    }

    /// Makes a file of the data that was read, from its first byte.
    public init(id: FileIdentifier, data: [UInt8]) { self.init(id: id, state: .read, data: data) }
}

/// A card's report on one of its PINs when it was read; the PIN itself is not stored anywhere.
public struct CardPINState: Hashable, Sendable {
    /// The remaining tries, 0 if it is locked; `nil` if unknown.
    ///
    /// After a PIN that the card accepted, the number before it was sent: cards do not report the counter of a verified
    /// PIN.
    public var triesLeft: Int?
    /// Whether the card accepted the PIN during this reading.
    public var isVerified: Bool
    /// Why the PIN unlocked nothing; `nil` if the card accepted it or none was given.
    public var refusal: Reason?

    /// The reasons why a PIN unlocked nothing. The raw values are the identifiers in dumps and in `withheldReason`.
    @nonexhaustive
    public enum Reason: String, Hashable, Sendable {
        /// The card compared it and found it wrong.
        case wrong = "wrongPIN"
        /// It is locked, by this attempt or earlier.
        case locked = "pinLocked"
        /// It was not sent, because this may have been the last try.
        case lastTry
        /// It was not sent, because it does not have the format of such a PIN.
        case form = "pinForm"
        /// The card refused without comparing it.
        case refused
    }

    /// Makes a state.
    public init(triesLeft: Int?, isVerified: Bool, refusal: Reason? = nil) {
        self.triesLeft = triesLeft
        self.isVerified = isVerified
        self.refusal = refusal
    }

    /// Removes `triesLeft`, `verified` and `refusal` from a file's members and makes a state; `nil` if there is none.
    init?(takenFrom members: inout JSONObject) {
        guard case .bool(let isVerified)? = members["verified"], let tries = members["triesLeft"] else { return nil }
        var triesLeft: Int?
        if case .integer(let count) = tries, (0...15).contains(count) { triesLeft = Int(count) }
        members["verified"] = nil
        members["triesLeft"] = nil
        self.init(
            triesLeft: triesLeft, isVerified: isVerified,
            refusal: members.take("refusal") { $0.fromText(Reason.init) })
    }

    var json: JSONObject {
        var object = JSONObject([("triesLeft", .optional(triesLeft)), ("verified", .bool(isVerified))])
        object["refusal"] = refusal.map { .string($0.rawValue) }
        return object
    }
}

extension ApplicationDump {
    init(json: JSONCursor) throws(DocumentError) {
        let aid = try json.optional("aid")
        self.init(
            aid: try aid?.aid(),
            selectAnswer: try json.optional("selectAnswer")?.bytes(),
            files: try json.optional("files")?.list { file throws(DocumentError) in try FileDump(json: file) } ?? [],
            extra: try json.members(without: ["aid", "selectAnswer", "files"]))
    }

    var json: JSONValue {
        var object = JSONObject([("aid", .text(aid?.description))])
        object["selectAnswer"] = selectAnswer.map { .string(Hex.encode($0)) }
        object["files"] = .array(files.map(\.json))
        object.merge(extra)
        return .object(object)
    }
}

extension FileDump {
    init(json: JSONCursor) throws(DocumentError) {
        let state = try ReadState(json: json)
        self.init(
            id: try json.required("id").code(), state: state, data: try json.optional("data")?.bytes() ?? [],
            extra: try json.members(without: ["id", "state", "data"] + (state.isRefused ? ["status"] : [])))
        pin = CardPINState(takenFrom: &extra)
    }

    var json: JSONValue {
        var object = JSONObject([("id", .string(id.description)), ("state", .string(state.word))])
        object["status"] = state.statusMember
        object["data"] = .string(Hex.encode(data))
        if let pin { object.merge(pin.json) }
        object.merge(extra)
        return .object(object)
    }
}

extension JSONCursor {
    /// Returns this value as an AID, 1 to 16 bytes.
    package func aid() throws(DocumentError) -> AID {
        guard let aid = AID(try bytes()) else { throw malformed(.hexDigits, "2–32") }
        return aid
    }
}
