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
    private var rates = ISOBitRates.initial

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
        rates = .initial
        typeA?.losePower()
        typeB?.losePower()
    }

    /// Returns the command that this frame would complete.
    func command(completedBy frame: RadioFrame) -> [UInt8]? {
        isBlock(frame) ? protocolLayer.command(completedBy: frame.bytes) : nil
    }

    private func isBlock(_ frame: RadioFrame) -> Bool {
        protocolLayer.isActive && frame.technology == (typeA == nil ? .typeB : .typeA) && frame.hasCRC
            && frame.lastByteBits == 8 && frame.bitRate == rates.toCard
            && (rates == .initial || protocolLayer.options.fasterRates != .unheard)
    }

    mutating func take(_ frame: RadioFrame) -> Result {
        if isBlock(frame) { return block(frame.bytes) }
        guard !protocolLayer.isActive, frame.bitRate == .kbps106 else { return .silence }
        switch typeA?.take(frame) {
        case nil, .silence: break
        case .answer(let answer): return .answer(answer)
        case .command: return requestAnswerToSelect(frame)
        }
        switch typeB?.take(frame) {
        case nil, .silence: return .silence
        case .answer(let answer): return .answer(answer)
        case .selected(let frameSizeIndex, let cid, let rates):
            let options = protocolLayer.options
            guard rates == .initial || options.fasterRates != .ignored else { return .silence }
            protocolLayer.activate(frameSizeIndex: frameSizeIndex, cid: cid)
            // The answer to ATTRIB still comes at the speed of before.
            self.rates = rates
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
        if takesPPS, frame.first == 0xD0 | cid, (2...3).contains(frame.count) { return changeRates(frame) }
        switch protocolLayer.take(frame) {
        case .silence: return .silence
        case .answer(let bytes):
            takesPPS = false
            return .answer(sent(CardAnswer(bytes)))
        case .command(let command):
            takesPPS = false
            return .command(command)
        case .deselected(let bytes):
            typeA?.halt()
            typeB?.halt()
            defer { rates = .initial }
            return .answer(sent(CardAnswer(bytes)))
        }
    }

    /// PPS: the answer still comes at the speed of before. Speeds that the card does not support are not answered.
    private mutating func changeRates(_ frame: [UInt8]) -> Result {
        var wanted = ISOBitRates.initial
        if frame.element(at: 1).map({ $0 & 0x10 != 0 }) ?? false, let code = frame.element(at: 2) {
            wanted.toCard = ISOBitRate(rawValue: code & 0x03) ?? .kbps106
            wanted.fromCard = ISOBitRate(rawValue: code >> 2 & 0x03) ?? .kbps106
        }
        guard protocolLayer.parameters.bitRates.contains(wanted), protocolLayer.options.fasterRates != .ignored else {
            return .silence
        }
        takesPPS = false
        rates = wanted
        return .answer(CardAnswer([0xD0 | cid]))
    }

    private func sent(_ answer: CardAnswer) -> CardAnswer {
        var answer = answer
        answer.bitRate = rates.fromCard
        let isLong = answer.frame.count > Self.undamaged
        answer.isDamaged = isLong && rates != .initial && protocolLayer.options.fasterRates == .damaged
        return answer
    }

    /// The longest answer that is not damaged by ``ISODEPOptions/FasterRates/damaged``.
    private static let undamaged = 16

    /// Returns the answer to a command; no answer for `nil`.
    mutating func respond(_ response: [UInt8]?) -> CardAnswer? {
        protocolLayer.respond(response).map { sent(CardAnswer($0, thinkingTime: protocolLayer.options.answerTime)) }
    }
}
