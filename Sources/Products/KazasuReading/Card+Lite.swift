// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardDecoders
public import CardModel
public import CardReading
public import FeliCa
internal import ReaderCore

extension CardQuery {
    /// A FeliCa Lite or Lite-S.
    public static let lite = feliCa(systems: [.lite])
}

extension Card {
    /// Returns the card as a FeliCa Lite or Lite-S, to prove that it is genuine and to issue it.
    ///
    /// ```swift
    /// let card = try reader.waitForCard(.lite)
    /// if try card.lite().verify(.card(key)).isGenuine { print("open") }
    /// ```
    ///
    /// - Throws: ``KazasuError/wrongCard(_:)`` for another kind of card.
    public func lite() throws(KazasuError) -> LiteCard {
        guard let target = feliCa, let session = feliCaSession else {
            throw .wrongCard(WrongCard(picc, .noSystem([.lite])))
        }
        if found.system != .lite {
            // The card was found by another system of its own, or by a Polling for any.
            let polled: FeliCaTarget?
            do throws(ReadingError) {
                polled = try session.poll(.lite)
            } catch {
                throw KazasuError(error)
            }
            guard polled?.idm == target.idm else { throw .wrongCard(WrongCard(picc, .noSystem([.lite]))) }
        }
        return LiteCard(card: self, channel: LiteChannel(session))
    }
}

/// A FeliCa Lite or Lite-S on a reader.
public struct LiteCard {
    private let card: Card
    private let channel: LiteChannel

    fileprivate init(card: Card, channel: LiteChannel) {
        (self.card, self.channel) = (card, channel)
    }

    /// The card.
    public var identity: CardIdentity { card.identity }

    /// Reads what the card is restricted to and how often it was written; no key is needed.
    ///
    /// - Throws: ``KazasuError/lite(_:)``.
    public func information() throws(KazasuError) -> LiteInformation {
        try run { () throws(LiteError) in
            let first = try channel.read([LiteNumber.id, LiteNumber.keyVersion, LiteNumber.configuration])
            let count = channel.isLiteS ? try channel.read([LiteNumber.writeCount]).first : nil
            guard first.count == 3 else { throw .reading(.cardLost) }
            return LiteInformation(id: first[0], version: first[1], configuration: first[2], count: count)
        }
    }

    /// Proves that the card has a key: the card answers a random challenge, with its own number in the proof.
    ///
    /// Nothing is written that lasts, and the key is not sent. An emulator that only copies the card's number fails, and
    /// so does a recording of the genuine card.
    ///
    /// - Returns: whether it has the key; a card that does not is a result, not an error.
    /// - Throws: ``KazasuError/lite(_:)``; ``LiteError/factoryKey`` for the key that every card has at first.
    public func verify(_ source: LiteKeySource) throws(KazasuError) -> LiteVerification {
        try run { () throws(LiteError) in
            let version = try channel.read([LiteNumber.keyVersion]).first
            let isGenuine = try channel.beginSession(try key(source))
            return LiteVerification(
                card: identity, isLiteS: channel.isLiteS, isGenuine: isGenuine,
                keyVersion: version?.uint16(at: 0, .little))
        }
    }

    /// Reads blocks with a MAC: what is returned is what the genuine card holds, even if someone is in between.
    ///
    /// - Parameters:
    ///   - numbers: the blocks, 0 to 14 or those of the system.
    ///   - authenticates: whether the reader proves that it has the key, too, as some blocks need; on a Lite-S only, and
    ///     it costs one write.
    ///   - source: where the key comes from.
    /// - Throws: ``KazasuError/lite(_:)``; ``LiteError/notGenuine`` if the card does not have the key.
    public func read(
        _ numbers: [UInt16], key source: LiteKeySource, authenticates: Bool = false
    ) throws(KazasuError) -> [Block] {
        try run { () throws(LiteError) in
            if authenticates, !channel.isLiteS { throw .notLiteS }
            return try channel.inSession(try key(source), mutual: authenticates) { card throws(LiteError) in
                try card.read(numbers)
            }
        }
    }

    /// Writes a block of a Lite-S with a MAC, after both sides proved that they have the key, and reads it back.
    ///
    /// - Throws: ``KazasuError/lite(_:)``.
    public func write(_ block: Block, to number: UInt16, key source: LiteKeySource) throws(KazasuError) {
        try run { () throws(LiteError) in
            guard channel.isLiteS else { throw .notLiteS }
            try channel.inSession(try key(source), mutual: true) { card throws(LiteError) in
                if try card.read([number]).first != block { try card.write(number, block) }
                guard try card.read([number]).first == block else { throw .changed(block: number) }
            }
        }
    }

    // MARK: Issuing

    /// What issuing would change; nothing is written.
    ///
    /// - Throws: ``KazasuError/lite(_:)``; ``LiteError/locked`` for a card that was issued before.
    public func changes(_ profile: LiteProfile) throws(KazasuError) -> [LiteChange] {
        try run { () throws(LiteError) in try LiteIssuer.changes(LiteIssuer.state(channel), profile) }
    }

    /// Makes the check value of the key that the card gets, for the journal of its issuance.
    ///
    /// - Throws: ``KazasuError/lite(_:)``.
    public func keyCheck(_ profile: LiteProfile, key source: LiteKeySource) throws(KazasuError) -> LiteKeyCheck {
        try run { () throws(LiteError) in
            LiteKeyCheck(try issuedKey(profile, source, LiteIssuer.state(channel)).key)
        }
    }

    /// Issues the card, or goes on where an issuance was interrupted.
    ///
    /// A card is locked only after it proved, without power in between, that it has the key. Whatever interrupts this, it
    /// can be repeated with the same profile and key.
    ///
    /// - Parameters:
    ///   - profile: the contents and restrictions.
    ///   - source: the key; with a master key, the card's own is derived from its ID block as the profile makes it.
    ///   - interrupted: what the journal has of the issuance that was interrupted: the card may be locked already, and
    ///     with another key nothing is written. `nil` for a new issuance.
    ///   - lift: asks for the card to be lifted and put back, for readers that cannot switch their field off, and waits
    ///     until ``waitForReturn(timeout:)`` or its like has seen that; by default that is an error.
    ///   - journal: stores each step where it survives the loss of power, before it is taken.
    /// - Throws: ``KazasuError/lite(_:)``; ``LiteError/otherKey`` or ``LiteError/notGenuine`` if this is not the key of
    ///   the issuance that was interrupted.
    public func issue(
        _ profile: LiteProfile, key source: LiteKeySource, resuming interrupted: LiteInterruption? = nil,
        lift: (() throws(KazasuError) -> Void)? = nil,
        journal: @escaping (LiteStep) throws(KazasuError) -> Void
    ) throws(KazasuError) {
        let own = OwnSteps()
        try own.run { () throws(KazasuError) in
            try run { () throws(LiteError) in
                let (key, id) = try issuedKey(profile, source, LiteIssuer.state(channel))
                if let check = interrupted?.keyCheck, !check.matches(key) { throw .otherKey }
                let issuer = LiteIssuer(channel, profile, key, source: id) { () throws(LiteError) in
                    guard let lift else { throw .keptPower }
                    try own.take(as: LiteError.reading(.cancelled), lift)
                } journal: { step throws(LiteError) in
                    try own.take(as: LiteError.reading(.cancelled)) { () throws(KazasuError) in try journal(step) }
                }
                try issuer.run(resumes: interrupted != nil, hasKey: interrupted?.hasProvedKey ?? false)
            }
        }
    }

    /// Waits until the card has been lifted and put back.
    ///
    /// - Throws: ``KazasuError/noCard`` if that did not happen in time.
    public func waitForReturn(timeout: Duration = .seconds(60)) throws(KazasuError) {
        try card.waitForReturn(timeout: timeout) { () throws(KazasuError) in
            try run { () throws(LiteError) in try channel.isPresent() }
        }
    }

    /// The key that the card has once it is issued, and the ID block from which it is derived.
    private func issuedKey(
        _ profile: LiteProfile, _ source: LiteKeySource, _ state: LiteIssuer.State
    ) throws(LiteError) -> (key: LiteKey, id: Block) {
        let id = state.isLocked ? state.id : profile.id(state.id)
        guard let key = source.key(id: id) else { throw .notGenuine }
        return (key, id)
    }

    private func key(_ source: LiteKeySource) throws(LiteError) -> LiteKey {
        let id: Block
        switch source {
        case .card: id = .zero
        case .master: id = try channel.read([LiteNumber.id]).first ?? .zero
        }
        guard let key = source.key(id: id) else { throw .notGenuine }
        if key.isFactoryKey { throw .factoryKey }
        return key
    }

    private func run<Value>(_ body: () throws(LiteError) -> Value) throws(KazasuError) -> Value {
        do throws(LiteError) {
            return try body()
        } catch {
            throw KazasuError(error)
        }
    }
}

extension Card {
    private static let missesOfAbsence = 3
    private static let pause = Duration.milliseconds(100)

    /// Waits until the card has been away and is there again.
    ///
    /// - Throws: ``KazasuError/noCard`` if that did not happen in time.
    func waitForReturn(
        timeout: Duration, isPresent: () throws(KazasuError) -> Bool
    ) throws(KazasuError) {
        let deadline = reader.clock.now() + timeout
        var (misses, wasAway) = (0, false)
        while true {
            guard reader.clock.now() < deadline else { throw .noCard }
            if reader.cancellation.isCancelled { throw .cancelled }
            if try isPresent() {
                if wasAway { return }
                misses = 0
            } else {
                misses += 1
                wasAway = wasAway || misses >= Self.missesOfAbsence
            }
            reader.clock.pause(Self.pause)
        }
    }
}

extension KazasuError {
    /// An error of reading stays one.
    init(_ error: LiteError) {
        if case .reading(let error) = error { self.init(error) } else { self = .lite(error) }
    }
}

/// What is known of an issuance that was interrupted.
public struct LiteInterruption: Hashable, Sendable {
    /// The check value of its key, as ``LiteCard/keyCheck(_:key:)`` made it; `nil` if the journal has none.
    public var keyCheck: LiteKeyCheck?
    /// Whether the journal has ``LiteStep/keyProved``: then nothing is written to a card that does not prove the key.
    public var hasProvedKey: Bool

    /// Makes it of what the journal has.
    public init(keyCheck: LiteKeyCheck? = nil, hasProvedKey: Bool = false) {
        (self.keyCheck, self.hasProvedKey) = (keyCheck, hasProvedKey)
    }
}

/// Whether a card proved that it has a key.
public struct LiteVerification: Hashable, Sendable {
    /// The card.
    public let card: CardIdentity
    /// Whether it is a Lite-S and not a Lite.
    public let isLiteS: Bool
    /// Whether it proved it: else the key is wrong, or the card is a copy.
    public let isGenuine: Bool
    /// The version of the card key as the card states it; `nil` if it could not be read.
    public let keyVersion: UInt16?
}

/// What a FeliCa Lite or Lite-S is restricted to, as far as it states that without a key.
public struct LiteInformation: Hashable, Sendable {
    /// Whether it is a Lite-S and not a Lite.
    public let isLiteS: Bool
    /// The eight bytes of its ID.
    public let id: [UInt8]
    /// The data format code.
    public let dataFormatCode: UInt16
    /// The version of the card key (CKV).
    public let keyVersion: UInt16
    /// Whether the system blocks are locked: the card was issued.
    public let isLocked: Bool
    /// Whether the card answers as an NFC Forum tag.
    public let answersNDEF: Bool
    /// Whether the card key can be changed with a MAC; before the lock it can be changed without one.
    public let isKeyChangeable: Bool
    /// Blocks 0 to 14 that can never be written again.
    public let readOnly: [Int]
    /// Blocks that can be read only after authentication.
    public let authenticatedReads: [Int]
    /// Blocks that can be written only after authentication.
    public let authenticatedWrites: [Int]
    /// Blocks that can be written only with a MAC.
    public let writesWithMAC: [Int]
    /// How often the card was written since it was locked; `nil` for a card that is not locked or is a Lite.
    public let writes: Int?
    /// How often the card can still be written with a MAC; `nil` for a card that is not locked or is a Lite.
    public let writesLeft: Int?

    init(id: Block, version: Block, configuration: Block, count: Block?) {
        let map = LiteMemoryConfiguration(configuration, isLiteS: count != nil)
        isLiteS = count != nil
        self.id = Array(id.bytes.prefix(8))
        dataFormatCode = id.uint16(at: 8, .big)
        keyVersion = version.uint16(at: 0, .little)
        isLocked = !map.isSystemWritable
        answersNDEF = map.announcesNDEF
        isKeyChangeable = map.isKeyChangeable
        readOnly = map.readOnlyBlocks
        authenticatedReads = map.authenticatedReads ?? []
        authenticatedWrites = map.authenticatedWrites ?? []
        writesWithMAC = map.writesWithMAC ?? []
        let counted = isLocked ? count.map { Int($0.uint24(at: 0, .little)) } : nil
        writes = counted
        writesLeft = counted.map { max(0, Int(LiteChannel.lastCount) - $0) }
    }
}
