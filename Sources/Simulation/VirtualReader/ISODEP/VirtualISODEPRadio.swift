// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// From the air to command APDUs: selection by type A or B, activation of ISO 14443-4, then blocks.
struct VirtualISODEPRadio: Sendable {
    /// The result of a frame.
    enum Result: Hashable, Sendable {
        case silence
        case answer(CardAnswer)
        /// The answer to RATS or ATTRIB: a new session begins.
        case activated(CardAnswer)
        /// A whole command APDU; ``VirtualISODEPRadio/respond(_:)`` is called next.
        case command([UInt8])
    }

    /// The selection by one of the two types.
    private var typeA: TypeASelection?
    private var typeB: TypeBSelection?
    private var ats: [UInt8] = []
    private var protocolLayer: VirtualISODEP
    /// Whether no block has come since RATS, so that PPS is still allowed.
    private var takesPPS = false
    private var cid: UInt8 = 0

    init(_ interface: ISODEPInterface, _ options: ISODEPOptions) {
        switch interface {
        case .typeA(let identity, let ats):
            var identity = identity
            identity.sak |= TypeACommand.speaksISODEP
            typeA = TypeASelection(identity)
            self.ats = ats
            protocolLayer = VirtualISODEP(ISODEPParameters(ats: ats), options)
        case .typeB(let identity):
            typeB = TypeBSelection(identity)
            protocolLayer = VirtualISODEP(ISODEPParameters(identity), options)
        }
    }

    mutating func losePower() {
        protocolLayer.deactivate()
        takesPPS = false
        typeA?.losePower()
        typeB?.losePower()
    }

    /// Returns the command that this frame would complete.
    func command(completedBy frame: RadioFrame) -> [UInt8]? {
        isBlock(frame) ? protocolLayer.command(completedBy: frame.bytes) : nil
    }

    private func isBlock(_ frame: RadioFrame) -> Bool {
        protocolLayer.isActive && frame.technology == (typeA == nil ? .typeB : .typeA) && frame.hasCRC
            && frame.lastByteBits == 8
    }

    mutating func take(_ frame: RadioFrame) -> Result {
        if isBlock(frame) { return block(frame.bytes) }
        guard !protocolLayer.isActive else { return .silence }
        switch typeA?.take(frame) {
        case nil, .silence: break
        case .answer(let answer): return .answer(answer)
        case .command: return requestAnswerToSelect(frame)
        }
        switch typeB?.take(frame) {
        case nil, .silence: return .silence
        case .answer(let answer): return .answer(answer)
        case .selected(let frameSizeIndex, let cid):
            protocolLayer.activate(frameSizeIndex: frameSizeIndex, cid: cid)
            let options = protocolLayer.options
            return .activated(CardAnswer([options.bufferSize | cid] + options.attributeData))
        }
    }

    /// RATS: the index of the reader's frame size and the card's number, with 15 for none.
    private mutating func requestAnswerToSelect(_ frame: RadioFrame) -> Result {
        guard frame.hasCRC, frame.bytes.count == 2, frame.bytes[0] == TypeACommand.requestAnswerToSelect,
            let parameter = frame.bytes.element(at: 1), parameter & 0x0F != 0x0F
        else {
            typeA?.fallBack()
            return .silence
        }
        switch protocolLayer.options.requestAnswer {
        case .ats: break
        case .silence:
            typeA?.fallBack()
            return .silence
        case .refusal:
            typeA?.fallBack()
            return .answer(CardAnswer([0x04], lastByteBits: 4, hasCRC: false))
        }
        cid = parameter & 0x0F
        protocolLayer.activate(frameSizeIndex: parameter >> 4, cid: cid)
        takesPPS = true
        return .activated(CardAnswer(ats))
    }

    private mutating func block(_ frame: [UInt8]) -> Result {
        // PPS: the only speed is 106 kbit/s, and the answer agrees without changing anything.
        if takesPPS, frame.first == 0xD0 | cid, (2...3).contains(frame.count) {
            takesPPS = false
            return .answer(CardAnswer([0xD0 | cid]))
        }
        switch protocolLayer.take(frame) {
        case .silence: return .silence
        case .answer(let bytes):
            takesPPS = false
            return .answer(CardAnswer(bytes))
        case .command(let command):
            takesPPS = false
            return .command(command)
        case .deselected(let bytes):
            typeA?.halt()
            typeB?.halt()
            return .answer(CardAnswer(bytes))
        }
    }

    /// Returns the answer to a command; no answer for `nil`.
    mutating func respond(_ response: [UInt8]?) -> CardAnswer? {
        protocolLayer.respond(response).map { CardAnswer($0, thinkingTime: protocolLayer.options.answerTime) }
    }
}
