// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
public import CardModel
public import CardReading
public import FeliCa
internal import ReaderCore

extension Card {
    /// Returns the card as a FeliCa Standard, whose services its owner's keys open.
    ///
    /// ```swift
    /// var keys = StandardKeys()
    /// try keys.add(file: file)
    /// let card = try reader.waitForCard(.feliCa(systems: keys.systems)).standard(keys: keys)
    /// print(try card.verify().isGenuine)
    /// ```
    ///
    /// No key is guessed, shipped or recovered. A list of keys that a card did not confirm is not sent to it again by the
    /// same ``CardReader``. Of the protocol, only simulated cards were tried so far.
    ///
    /// - Parameters:
    ///   - keys: the owner's keys, of DES or AES-128; without any, only ``StandardCard/information(progress:)`` is of use.
    ///   - retries: whether to send keys again that this card did not confirm before.
    /// - Throws: ``KazasuError/wrongCard(_:)`` for a card without FeliCa, ``KazasuError/standard(_:)`` with
    ///   ``StandardKeyError/notStandard`` for a FeliCa Lite or Lite-S.
    public func standard(keys: StandardKeys = StandardKeys(), retries: Bool = false) throws(KazasuError) -> StandardCard
    {
        try standard(StandardKeyring(keys, retries: retries, failures: reader.failedKeys))
    }

    /// Returns the card as ``standard(keys:retries:)`` does.
    package func standard(_ keyring: StandardKeyring) throws(KazasuError) -> StandardCard {
        guard let session = feliCaSession else { throw .wrongCard(WrongCard(picc, .kind(wanted: .feliCa))) }
        let target = session.target
        let code = target.requestData.map { SystemCode(rawValue: $0) } ?? found.system ?? .any
        let system = SystemHandle(code: code, idm: target.idm, pmm: target.pmm)
        guard system.isStandard else { throw .standard(.notStandard) }
        return StandardCard(card: self, session: session, system: system, keyring: keyring)
    }
}

/// A FeliCa Standard on a reader, with its owner's keys.
///
/// Each list of keys is sent at most once, and Authentication2 only to a card that proved that it has them. Sources: the
/// unofficial user's manual and felica-rs.
public struct StandardCard {
    private let card: Card
    private let session: CardSession
    private let system: SystemHandle
    private let keyring: StandardKeyring

    fileprivate init(card: Card, session: CardSession, system: SystemHandle, keyring: StandardKeyring) {
        (self.card, self.session, self.system, self.keyring) = (card, session, system, keyring)
    }

    /// The card.
    public var identity: CardIdentity { card.identity }

    /// Whether the card answers nothing more before it is lifted. That is so after keys were used on a card with one
    /// system and without Reset Mode, on a reader that cannot switch its field off.
    public var staysAuthenticated: Bool { session.staysAuthenticated }

    /// Lists the versions of all keys on the card. With keys, tries them in as few sessions as settle which fit.
    ///
    /// - Parameter progress: called for each system while it is scanned.
    /// - Returns: what was found, also if the card leaves early.
    /// - Throws: ``StandardInformation/error`` if nothing was found.
    public func information(
        progress: @escaping (ReadingProgress) -> Void = { _ in }
    ) throws(KazasuError) -> StandardInformation {
        var information = StandardInformation(systems: [], error: nil)
        let keyring = keyring.keys.isEmpty ? nil : keyring
        do throws(ReadingError) {
            try StandardInspection(session: session, keyring: keyring, progress: progress).run(
                into: &information.systems)
        } catch {
            information.error = KazasuError(error)
        }
        return try information.unlessEmpty()
    }

    /// Proves that the card has the owner's keys of the system that it was found by; nothing is read or written.
    ///
    /// Every service with a key is tried, in one session for each path of areas. A copy of the card's number, an emulator
    /// without the keys, and a wrong key all fail. What DES proves is limited: a recorded session can be broken by brute
    /// force.
    ///
    /// - Returns: whether it has them; a card that does not is a result, not an error.
    /// - Throws: ``KazasuError/standard(_:)`` if no key could be used, ``KazasuError/reading(_:)``.
    public func verify() throws(KazasuError) -> StandardVerification {
        let services = keyring.keys.services(in: system.code, card: session.target.idm)
        guard !services.isEmpty else { throw .standard(.noKeys(system.code)) }
        let result = session.prove(services, of: system, keys: keyring)
        if let error = result.interruption { throw KazasuError(error) }
        let errors = services.compactMap { service in
            result.ends[service].flatMap { StandardKeyError($0, service) }.map { (service, $0) }
        }
        let opened = services.filter { service in !errors.contains { $0.0 == service } }
        let wasRefused = errors.contains { $0.1.isRefusal }
        let wasSent =
            !opened.isEmpty || errors.contains { if case .key(.wrongKey, _, _) = $0.1 { true } else { false } }
        // What another card has says nothing about this one.
        let relevant = errors.first { if case .absent = $0.1 { false } else { true } }
        if !wasSent, let error = relevant ?? errors.first { throw .standard(error.1) }
        return StandardVerification(
            card: identity, system: system.code, isGenuine: !opened.isEmpty && !wasRefused, issue: result.issue,
            opened: opened, failures: Dictionary(errors) { first, _ in first })
    }

    /// Reads services of the system that the card was found by; those that need a key are opened.
    ///
    /// - Parameters:
    ///   - services: the services. Nothing is sent if there is no key for one that needs it.
    ///   - blocks: the numbers of the blocks to read of each; `nil` for all.
    /// - Returns: what was read, also if the card refuses a part or leaves early.
    /// - Throws: ``KazasuError/standard(_:)`` if keys did not open one of the services; ``ReadResult/error`` if the card
    ///   gave no block and refused none.
    public func read(_ services: [ServiceCode], blocks: [UInt16]? = nil) throws(KazasuError) -> ReadResult {
        let (result, ends) = try card.read(services, blocks: blocks, keys: keyring)
        for service in services {
            if let end = ends[service], let error = StandardKeyError(end, service) { throw .standard(error) }
        }
        return try result.unlessEmpty()
    }

    // MARK: Writing

    /// Checks a write to the system that the card was found by, and reads the blocks that it changes. Nothing is written.
    ///
    /// ```swift
    /// let planned = try card.plan(BlockWrite(ServiceCode(rawValue: 0x1408), block: 0, .blocks([block])))
    /// print(planned.blocks[0].before, "becomes", planned.blocks[0].after)
    /// try card.write(planned)
    /// ```
    ///
    /// A service that needs a key is opened with the owner's; others are written without one.
    ///
    /// - Throws: ``KazasuError/blockWrite(_:)`` for what the service does not allow or have, ``KazasuError/standard(_:)`` if
    ///   keys did not open it, ``KazasuError/reading(_:)``.
    public func plan(_ write: BlockWrite) throws(KazasuError) -> PlannedWrite {
        try run { () throws(BlockWriteError) in
            try BlockWriter(session: session, system: system, keyring: keyring).plan(write)
        }
    }

    /// Writes what ``plan(_:)`` checked: all blocks or none, with one command, and reads them back.
    ///
    /// If no answer comes, the blocks are read. Done is done; what was not done is sent once more. A purse is changed once
    /// or not at all.
    ///
    /// - Returns: whether anything was written; `false` if the card has all of it already.
    /// - Throws: ``KazasuError/blockWrite(_:)``: ``BlockWriteError/changed(block:)`` if the card changed since,
    ///   ``BlockWriteError/unconfirmed`` if it left before it could be asked what it did. Otherwise as ``plan(_:)``.
    @discardableResult
    public func write(_ planned: PlannedWrite) throws(KazasuError) -> Bool {
        guard planned.system == system else {
            throw .blockWrite(.changed(block: planned.write.number))
        }
        return try run { () throws(BlockWriteError) in
            try BlockWriter(session: session, system: system, keyring: keyring).run(planned)
        }
    }

    private func run<Value>(_ body: () throws(BlockWriteError) -> Value) throws(KazasuError) -> Value {
        do throws(BlockWriteError) {
            return try body()
        } catch {
            switch error {
            case .key(let error): throw .standard(error)
            case .reading(let error): throw KazasuError(error)
            default: throw .blockWrite(error)
            }
        }
    }

    // MARK: Changing keys

    /// The system that the card was found by.
    package var systemHandle: SystemHandle { system }

    /// What a change to these keys would do; nothing is written and no key is sent.
    ///
    /// - Parameters:
    ///   - new: the keys that the card gets, of DES, each with a new version. Those that it has already are left out.
    ///   - wanted: the changes of an interrupted run, of which the card may have some already; `nil` for a new one.
    /// - Returns: the changes in the order in which they are made: services, areas from the innermost, the system.
    /// - Throws: ``KazasuError/keyChange(_:)``, ``KazasuError/reading(_:)``.
    public func keyChanges(
        to new: StandardKeys, resuming wanted: [StandardKeyChange]? = nil
    ) throws(KazasuError) -> [StandardKeyChange] {
        try keyPlan(new, resuming: wanted).changes
    }

    /// Looks at the card as ``keyChanges(to:resuming:)`` does.
    package func keyPlan(
        _ new: StandardKeys, resuming wanted: [StandardKeyChange]? = nil
    ) throws(KazasuError) -> KeyChanger.Plan {
        try changing { () throws(KeyChangeError) in
            try KeyChanger(session: session, system: system, keyring: keyring, new: new) { _ throws(KeyChangeError) in }
                .plan(resuming: wanted)
        }
    }

    /// Changes DES keys, or goes on where that was interrupted: services first, then areas from the innermost, the system last.
    ///
    /// The old keys are proved before the first change, and each new one in a session of its own before the next. Whatever
    /// interrupts this, each key is the old or the new one, and the same call with the changes of the journal ends it. Try one
    /// card of a batch first; only simulated cards were tried so far.
    ///
    /// - Parameters:
    ///   - new: the keys that the card gets, of DES, each with a new version.
    ///   - wanted: the changes of an interrupted run; `nil` for a new one.
    ///   - lift: asks for the card to be lifted and put back, for readers that cannot switch their field off; by default that
    ///     is an error.
    ///   - journal: stores each step where it survives the loss of power, before it is taken.
    /// - Throws: ``KazasuError/keyChange(_:)``, ``KazasuError/standard(_:)``, ``KazasuError/reading(_:)``.
    public func changeKeys(
        to new: StandardKeys, resuming wanted: [StandardKeyChange]? = nil,
        lift: (() throws(KazasuError) -> Void)? = nil, journal: @escaping (StandardStep) throws(KazasuError) -> Void
    ) throws(KazasuError) {
        try changeKeys(new, keyPlan(new, resuming: wanted), lift: lift, journal: journal)
    }

    /// Changes DES keys as ``changeKeys(to:resuming:lift:journal:)`` does, by a plan that was made before.
    package func changeKeys(
        _ new: StandardKeys, _ plan: KeyChanger.Plan, lift: (() throws(KazasuError) -> Void)? = nil,
        journal: @escaping (StandardStep) throws(KazasuError) -> Void
    ) throws(KazasuError) {
        try changing(lift, journal) { lift, journal throws(KeyChangeError) in
            try KeyChanger(
                session: session, system: system, keyring: keyring, new: new, lift: lift, journal: journal
            ).run(plan)
        }
    }

    // MARK: Issuing

    /// Looks at a blank card and checks everything that can be checked without a key; nothing is written.
    ///
    /// - Parameters:
    ///   - keys: the keys that the card gets.
    ///   - isResumed: whether the card may have a part of the profile, or all of it.
    ///   - earlier: the profile with which it began, if it was a larger one.
    ///   - known: the check value of the keys with which it began.
    /// - Throws: as ``issue(_:keys:resuming:lift:journal:)``.
    package func issuePlan(
        _ profile: StandardProfile, keys new: StandardKeys, resumes isResumed: Bool = false,
        from earlier: StandardProfile? = nil, check known: StandardKeyCheck? = nil
    ) throws(KazasuError) -> (state: StandardIssuer.State, check: StandardKeyCheck) {
        try changing { () throws(KeyChangeError) in
            func issuer(_ profile: StandardProfile) -> StandardIssuer {
                StandardIssuer(session: session, profile: profile, keyring: keyring, new: new) {
                    _ throws(KeyChangeError) in
                }
            }
            let check = try issuer(earlier ?? profile).keyCheck(salt: known?.salt)
            guard known == nil || known == check else { throw .otherPlan }
            return (try issuer(profile).plan(resumes: isResumed), check)
        }
    }

    /// Makes a blank card into a profile's system, or goes on where that was interrupted. It is permanent: nothing resets an
    /// issued card.
    ///
    /// ``Card/standard(keys:retries:)`` takes the seller's keys, `FFFF` and `0000` of system FFFF. They are proved before
    /// the first step, and every new key at the end. Whatever interrupts this, each key is the seller's or the new one, and
    /// the same call with the steps of the journal ends it. Issue one card of a batch first; only simulated cards were
    /// tried so far.
    ///
    /// - Parameters:
    ///   - profile: the system, its areas, services and data. For a card that has too few blocks, an interrupted run goes on
    ///     with a smaller one, which has what is registered already.
    ///   - new: the keys that the card gets, of DES, in the profile's system: one for each area and each service that needs
    ///     one, and the system's with its version.
    ///   - steps: the steps in the journal of an interrupted run; `nil` for a new one.
    ///   - lift: asks for the card to be lifted and put back, for readers that cannot switch their field off; by default that
    ///     is an error.
    ///   - journal: stores each step where it survives the loss of power, before it is taken.
    /// - Throws: ``KazasuError/keyChange(_:)``, among them ``KeyChangeError/locked`` for a card that is not blank,
    ///   ``KazasuError/standard(_:)``, ``KazasuError/reading(_:)``.
    public func issue(
        _ profile: StandardProfile, keys new: StandardKeys, resuming steps: Set<StandardStep>? = nil,
        lift: (() throws(KazasuError) -> Void)? = nil, journal: @escaping (StandardStep) throws(KazasuError) -> Void
    ) throws(KazasuError) {
        try changing(lift, journal) { lift, journal throws(KeyChangeError) in
            let issuer = StandardIssuer(
                session: session, profile: profile, keyring: keyring, new: new, lift: lift, journal: journal)
            _ = try issuer.plan(resumes: steps != nil)
            try issuer.run(resuming: steps ?? [])
        }
    }

    private typealias Lift = () throws(KeyChangeError) -> Void
    private typealias Journal = (StandardStep) throws(KeyChangeError) -> Void

    /// Changes a card; errors of the caller's own steps end it and are thrown as they are.
    private func changing(
        _ lift: (() throws(KazasuError) -> Void)?, _ journal: @escaping (StandardStep) throws(KazasuError) -> Void,
        _ body: (@escaping Lift, @escaping Journal) throws(KeyChangeError) -> Void
    ) throws(KazasuError) {
        let own = OwnSteps()
        let cancelled = KeyChangeError.reading(.cancelled)
        try own.run { () throws(KazasuError) in
            try changing { () throws(KeyChangeError) in
                try body(
                    { () throws(KeyChangeError) in
                        guard let lift else { throw .keptPower }
                        try own.take(as: cancelled, lift)
                    },
                    { step throws(KeyChangeError) in
                        try own.take(as: cancelled) { () throws(KazasuError) in try journal(step) }
                    })
            }
        }
    }

    /// Waits until the card has been lifted and put back.
    ///
    /// - Throws: ``KazasuError/noCard`` if that did not happen in time.
    public func waitForReturn(timeout: Duration = .seconds(60)) throws(KazasuError) {
        try card.waitForReturn(timeout: timeout) { () throws(KazasuError) in
            do throws(ReadingError) {
                return try session.poll(system.code)?.idm == system.idm
            } catch {
                throw KazasuError(error)
            }
        }
    }

    private func changing<Value>(_ body: () throws(KeyChangeError) -> Value) throws(KazasuError) -> Value {
        do throws(KeyChangeError) {
            return try body()
        } catch {
            switch error {
            case .standard(let error): throw .standard(error)
            case .reading(let error): throw KazasuError(error)
            default: throw .keyChange(error)
            }
        }
    }

    // MARK: Reading all

    /// Reads every block that needs no key or that the keys open.
    ///
    /// The parameters, the result and the errors are those of ``Card/dump(_:resuming:progress:)``. In the dump, opened services
    /// have ``ServiceDump/opened``, refused ones ``ServiceDump/keyRefusal``; keys are in none.
    public func dump(
        _ selection: DumpSelection = .everything, resuming earlier: CardDump? = nil,
        progress: @escaping (ReadingProgress) -> Void = { _ in }
    ) throws(KazasuError) -> DumpResult {
        try card.dump(selection, credential: nil, resuming: earlier, keyring: keyring, progress: progress).unlessEmpty()
    }

    /// Reads the card's balance as ``Card/balance(kinds:all:)`` does. A key is used only for a service that the card refuses
    /// without one.
    ///
    /// - Throws: the errors of ``Card/balance(kinds:all:)``, and ``KazasuError/standard(_:)``.
    public func balance(kinds: [CardKind]? = nil, all: Bool = false) throws(KazasuError) -> BalanceReport {
        try card.balance(kinds: kinds, all: all, keys: keyring)
    }

    /// Reads the card's history as ``Card/history(kinds:stations:)`` does. A key is used only for a service that the card
    /// refuses without one.
    ///
    /// - Throws: the errors of ``Card/balance(kinds:all:)``, and ``KazasuError/standard(_:)``.
    public func history(
        kinds: [CardKind]? = nil, stations: any StationNames = ShippedStations()
    ) throws(KazasuError) -> CardReport {
        try card.history(kinds: kinds, stations: stations, keys: keyring)
    }
}

extension StandardKeyError {
    /// Whether the card did not confirm keys.
    fileprivate var isRefusal: Bool {
        switch self {
        case .key(let reason, _, _): reason == .wrongKey || reason == .keyFailedBefore
        case .silent: true
        default: false
        }
    }
}

/// The keys of a FeliCa Standard, and why the list is incomplete if it is.
public struct StandardInformation: PartialResult, Hashable, Sendable {
    /// The systems in the card's order.
    public internal(set) var systems: [StandardSystem]
    /// Why it ended early; `nil` if it did not.
    public internal(set) var error: KazasuError?

    package var isEmpty: Bool { systems.isEmpty }

    /// Returns the systems, or throws the error that ended it early.
    public func get() throws(KazasuError) -> [StandardSystem] {
        if let error { throw error }
        return systems
    }
}

/// Whether a FeliCa Standard proved that it has its owner's keys.
public struct StandardVerification: Hashable, Sendable {
    /// The card.
    public let card: CardIdentity
    /// The system.
    public let system: SystemCode
    /// Whether it confirmed all keys that were used, of one service at least.
    public let isGenuine: Bool
    /// The numbers that the system was issued with, which only a genuine card tells; `nil` if it confirmed no key.
    public let issue: SystemIssue?
    /// The services whose keys it confirmed, ascending.
    public let opened: [ServiceCode]
    /// Why the other services with keys were not opened.
    public let failures: [ServiceCode: StandardKeyError]
}
