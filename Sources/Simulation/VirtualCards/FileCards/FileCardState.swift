// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// The operating system of a virtual card: the current directory and file, the verified PINs, the unfetched data. What it does not
/// know, its applets do.
package struct FileCardState: Sendable {
    /// The selection below a directory.
    enum Current: Hashable, Sendable {
        case none
        case file(Int)
        case pin(Int)
    }

    var tree: VirtualFileTree
    let options: FileCardOptions
    /// The number of the current directory, 0 being the master file.
    var directory = 0
    var current = Current.none
    /// The verified PINs; those of an application are forgotten when another is selected.
    var verified: Set<String> = []
    private var random = SplitMix64(seed: 0x6B61_7A61_7375)
    /// The random bytes that the command before this one asked for.
    private(set) var challenge: [UInt8]?
    private var nextChallenge: [UInt8]?
    private var unfetched: FileCardReply?
    private var chained: [UInt8] = []
    private var timesAnswered: [[UInt8]: Int] = [:]

    init(_ tree: VirtualFileTree, _ options: FileCardOptions) {
        self.tree = tree
        self.options = options
    }

    /// Resets the state: power came back, or a new session of ISO-DEP begins.
    package mutating func losePower() {
        directory = 0
        current = .none
        verified = []
        unfetched = nil
        chained = []
        nextChallenge = nil
        for place in tree.applets.indices { tree.applets[place].losePower() }
    }

    /// Returns the response APDU to any command.
    package mutating func answer(_ command: [UInt8]) -> [UInt8] {
        let response = scripted(command) ?? reply(to: command).bytes
        return options.longestAnswer.map { Array(response.prefix($0)) } ?? response
    }

    private mutating func scripted(_ command: [UInt8]) -> [UInt8]? {
        guard let answers = options.answers[command], let last = answers.last else { return nil }
        let times = timesAnswered[command, default: 0]
        timesAnswered[command] = times &+ 1
        return answers.element(at: times) ?? last
    }

    private mutating func reply(to bytes: [UInt8]) -> FileCardReply {
        guard var command = CommandAPDU(bytes) else { return FileCardReply(StatusWord.wrongLength) }
        if command.isExtended, !options.takesExtendedLength { return FileCardReply(StatusWord.wrongLength) }
        if let status = options.instructionStatus[command.instruction] { return FileCardReply(status) }
        let pending = unfetched
        unfetched = nil
        challenge = nextChallenge
        nextChallenge = nil
        if command.classByte == 0x10, !tree.applets.contains(where: { $0.takesLink(command) }) {
            chained += command.data
            return FileCardReply(chained.count > 65_535 ? StatusWord.wrongLength : StatusWord.success)
        }
        command.data = chained + command.data
        chained = []
        if let reply = appletReply(command) { return reply }
        if let refusal = FileCardState.refusal(ofClass: command.classByte) { return FileCardReply(refusal) }
        if command.instruction == 0xC0 { return fetch(command, pending) }
        return fit(carryOut(command), to: command)
    }

    /// The answer of the first applet that has one. Meanwhile the applets are apart, since they change the files.
    private mutating func appletReply(_ command: CommandAPDU) -> FileCardReply? {
        var applets = tree.applets
        tree.applets = []
        defer { tree.applets = applets }
        for place in applets.indices {
            if let reply = applets[place].answer(command, on: &self) { return reply }
        }
        return nil
    }

    /// Only class 00 is supported.
    private static func refusal(ofClass byte: UInt8) -> UInt16? {
        switch byte {
        case 0x00: nil
        case 0x01...0x03: StatusWord.noLogicalChannel
        case 0x04...0x0F: StatusWord.noSecureMessaging
        default: StatusWord.unknownClass
        }
    }

    private mutating func carryOut(_ command: CommandAPDU) -> FileCardReply {
        switch command.instruction {
        case 0xA4: select(command)
        case 0xB0: readBinary(command)
        case 0xB1: readBinaryByObject(command)
        case 0xB2: readRecord(command)
        case 0xD6: updateBinary(command)
        case 0xDC: updateRecord(command)
        case 0x20: verify(command)
        case 0x84: giveChallenge(command)
        case 0xCA: dataObject(command)
        default: FileCardReply(StatusWord.unknownInstruction)
        }
    }

    private mutating func giveChallenge(_ command: CommandAPDU) -> FileCardReply {
        guard command.parameters == 0 else { return FileCardReply(StatusWord.wrongParameters) }
        guard let count = command.expected, command.data.isEmpty else { return FileCardReply(StatusWord.wrongLength) }
        let bytes = randomBytes(min(count, 256))
        nextChallenge = bytes
        return FileCardReply(bytes)
    }

    mutating func randomBytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...0xFF, using: &random) }
    }

    private func dataObject(_ command: CommandAPDU) -> FileCardReply {
        guard let data = tree[directory].dataObjects[command.parameters] else {
            return FileCardReply(StatusWord.dataNotFound)
        }
        return FileCardReply(data)
    }

    // MARK: Answer length

    /// Returns as much as is expected, in the card's way.
    mutating func fit(_ reply: FileCardReply, to command: CommandAPDU) -> FileCardReply {
        let expected = command.expected ?? 0
        guard !reply.data.isEmpty else { return reply }
        switch options.longAnswers {
        case .more:
            unfetched = reply
            return FileCardReply(FileCardState.status(StatusWord.moreData, reply.data.count))
        case .wrongLength where reply.data.count > expected:
            return FileCardReply(FileCardState.status(StatusWord.wrongExpectedLength, reply.data.count))
        case .cut, .wrongLength: return FileCardReply(Array(reply.data.prefix(expected)), reply.status)
        }
    }

    /// GET RESPONSE.
    private mutating func fetch(_ command: CommandAPDU, _ pending: FileCardReply?) -> FileCardReply {
        guard command.parameters == 0, command.data.isEmpty else {
            return FileCardReply(StatusWord.wrongParameters)
        }
        guard var pending, let expected = command.expected else { return FileCardReply(StatusWord.noCurrentFile) }
        let part = Array(pending.data.prefix(expected))
        if options.endlessMore {
            unfetched = pending
            return FileCardReply(part, FileCardState.status(StatusWord.moreData, pending.data.count))
        }
        pending.data.removeFirst(part.count)
        guard !pending.data.isEmpty else { return FileCardReply(part, pending.status) }
        unfetched = pending
        return FileCardReply(part, FileCardState.status(StatusWord.moreData, pending.data.count))
    }

    /// A status word whose second byte is a length, 00 for 256 and more.
    package static func status(_ base: UInt16, _ count: Int) -> UInt16 {
        base | UInt16(count > 255 ? 0 : max(0, count))
    }
}

extension FileCardState {
    /// VERIFY, and without data the query for the number of tries left, which costs none.
    ///
    /// A value of another length than the PIN's is a wrong value and costs a try, the worst possible behavior of a
    /// card.
    mutating func verify(_ command: CommandAPDU) -> FileCardReply {
        guard command.p1 == 0 else { return FileCardReply(StatusWord.wrongParameters) }
        guard command.expected == nil else { return FileCardReply(StatusWord.wrongLength) }
        let place: Place
        if command.p2 & 0x7F == 0 {
            switch current {
            case .none: return FileCardReply(StatusWord.noCurrentFile)
            case .file: return FileCardReply(StatusWord.wrongFileStructure)
            case .pin(let index): place = Place(directory: directory, index: index)
            }
        } else {
            guard let found = referenced(command.p2) else { return FileCardReply(options.unknownReferenceStatus) }
            place = found
        }
        guard !command.data.isEmpty else {
            let pin = tree[place.directory].pins[place.index]
            return FileCardReply(pin.triesLeft == 0 ? pin.lockedStatus : options.queryStatus ?? FileCardState.left(pin))
        }
        return FileCardReply(tryValue(command.data, at: place))
    }

    private struct Place {
        var directory: Int
        var index: Int
    }

    /// A reference with bit 8 is in the current directory, without it in the master file.
    private func referenced(_ reference: UInt8) -> Place? {
        let number = reference & 0x80 == 0 ? 0 : directory
        return tree[number].pins.firstIndex { $0.reference == reference }.map { Place(directory: number, index: $0) }
    }

    private mutating func tryValue(_ value: [UInt8], at place: Place) -> UInt16 {
        var pin = tree[place.directory].pins[place.index]
        guard pin.triesLeft > 0 else { return pin.lockedStatus }
        let isRight = value == pin.value
        pin.triesLeft = isRight ? pin.tries : pin.triesLeft - 1
        tree[place.directory].pins[place.index] = pin
        guard !isRight else {
            verified.insert(pin.name)
            return StatusWord.success
        }
        verified.remove(pin.name)
        return pin.tellsTries ? FileCardState.left(pin) : StatusWord.mismatch
    }

    private static func left(_ pin: VirtualPIN) -> UInt16 {
        StatusWord.triesLeft | UInt16(min(max(pin.triesLeft, 0), 15))
    }
}
