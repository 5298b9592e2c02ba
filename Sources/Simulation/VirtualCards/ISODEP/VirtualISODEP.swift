// SPDX-License-Identifier: Apache-2.0

/// The card's side of ISO 14443-4: converts blocks to command APDUs, and responses to blocks.
///
/// The rules are those of the standard for a PICC: it never starts an exchange, does not answer invalid blocks, and
/// sends its last block again on request.
struct VirtualISODEP: Sendable {
    /// The result of a frame.
    enum Result: Hashable, Sendable {
        case silence
        case answer([UInt8])
        /// A whole command APDU; ``VirtualISODEP/respond(_:)`` is called next.
        case command([UInt8])
        /// The last answer before the card is halted.
        case deselected([UInt8])
    }

    /// The longest command that is assembled; longer ones get no answer.
    static let longestCommand = 66_000

    let parameters: ISODEPParameters
    let options: ISODEPOptions
    private(set) var isActive = false
    private var readerFrame = 16
    private var cid: UInt8 = 0
    private var number: UInt8 = 1
    private var collected: [UInt8] = []
    private var unsent: ArraySlice<UInt8>?
    private var extensionsLeft = 0
    private var carriesCID = false
    private var last: [UInt8] = []

    init(_ parameters: ISODEPParameters, _ options: ISODEPOptions) {
        self.parameters = parameters
        self.options = options
    }

    /// RATS or ATTRIB.
    mutating func activate(frameSizeIndex: UInt8, cid: UInt8) {
        self = VirtualISODEP(parameters, options)
        isActive = true
        readerFrame = min(ISODEPSizes.frame(frameSizeIndex), 256)
        self.cid = cid
    }

    mutating func deactivate() {
        self = VirtualISODEP(parameters, options)
    }

    /// Returns the command that this frame would complete.
    func command(completedBy frame: [UInt8]) -> [UInt8]? {
        guard isActive, let block = block(frame), block.kind == .information(isChained: false) else { return nil }
        return collected + block.data
    }

    /// Parses a block that is meant for this card.
    private func block(_ frame: [UInt8]) -> ISODEPBlock? {
        guard frame.count + 2 <= parameters.cardFrame, let block = ISODEPBlock(frame) else { return nil }
        guard block.nad == nil || parameters.supportsNAD else { return nil }
        guard let other = block.cid else { return cid == 0 ? block : nil }
        return parameters.supportsCID && other == cid ? block : nil
    }

    mutating func take(_ frame: [UInt8]) -> Result {
        guard isActive, let block = block(frame) else { return .silence }
        carriesCID = block.cid != nil
        switch block.kind {
        case .information(let isChained): return information(block.data, isChained)
        case .acknowledge: return block.number == number ? again() : goOn()
        case .notAcknowledge where !options.answersNAK: return .silence
        case .notAcknowledge:
            // The exchange does not change: a reader also uses this to ask whether the card is still there.
            return block.number == number
                ? again() : .answer(ISODEPBlock(.acknowledge, number: number, cid: ownCID).bytes)
        case .waitingTimeExtension:
            return block.data.first.map { $0 & 0xC0 != 0 } == true && options.powerLevel != 0 ? .silence : extended()
        case .deselect where !options.answersDeselect: return .silence
        case .deselect:
            let answer = ISODEPBlock(.deselect, cid: block.cid).bytes
            deactivate()
            return .deselected(answer)
        }
    }

    private mutating func information(_ data: [UInt8], _ isChained: Bool) -> Result {
        number ^= 1
        unsent = nil
        extensionsLeft = 0
        collected += data
        guard collected.count <= VirtualISODEP.longestCommand else {
            collected = []
            return .silence
        }
        if isChained {
            return .answer(remember(ISODEPBlock(.acknowledge, number: number, cid: ownCID)))
        }
        defer { collected = [] }
        return .command(collected)
    }

    /// Returns the first block of the answer to a command, or a waiting time extension; nothing for `nil`.
    mutating func respond(_ response: [UInt8]?) -> [UInt8]? {
        guard let response else { return nil }
        unsent = response[...]
        extensionsLeft = options.waitingTimeExtensions
        return extensionsLeft > 0 ? extend() : next()
    }

    private mutating func extend() -> [UInt8] {
        extensionsLeft -= 1
        let multiplier = options.waitingTimeMultiplier & 0x3F | options.powerLevel
        return remember(ISODEPBlock(.waitingTimeExtension, cid: ownCID, data: [multiplier]))
    }

    private mutating func extended() -> Result {
        guard unsent != nil else { return .silence }
        if extensionsLeft > 0 { return .answer(extend()) }
        return next().map { .answer($0) } ?? .silence
    }

    /// Handles an R(ACK) for the block that was sent last: the next one of a chain.
    private mutating func goOn() -> Result {
        guard unsent != nil, extensionsLeft == 0 else { return .silence }
        number ^= 1
        return next().map { .answer($0) } ?? .silence
    }

    private mutating func next() -> [UInt8]? {
        guard let rest = unsent else { return nil }
        let room = max(1, readerFrame - 3 - (ownCID == nil ? 0 : 1))
        let part = rest.prefix(room)
        unsent = part.count < rest.count ? rest.dropFirst(room) : nil
        return remember(
            ISODEPBlock(.information(isChained: unsent != nil), number: number, cid: ownCID, data: Array(part)))
    }

    private func again() -> Result {
        last.isEmpty ? .silence : .answer(last)
    }

    private mutating func remember(_ block: ISODEPBlock) -> [UInt8] {
        last = block.bytes
        return last
    }

    /// A card repeats the CID that the reader sent.
    private var ownCID: UInt8? { carriesCID ? cid : nil }
}
