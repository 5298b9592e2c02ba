// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import CardReading
internal import NDEF
package import NFCForumTags
internal import ReaderCore

/// A dump of a card, and why it is incomplete if it is.
public struct DumpResult: PartialResult, Hashable, Sendable {
    /// Everything that was read; ``CardDump/missing`` lists the rest. `tool`, `readAt` and `reader` are left to the
    /// caller.
    public var dump: CardDump
    /// Why reading ended early; `nil` if it did not.
    public var error: KazasuError?
    /// The systems of a FeliCa card whose nodes were listed.
    package var scans: [SystemScan] = []

    package var isEmpty: Bool {
        dump.systems.allSatisfy { $0.areas.isEmpty && $0.services.isEmpty } && dump.type2?.pages.isEmpty ?? true
            && dump.applications.isEmpty && dump.classic == nil
    }

    /// Returns the dump, or throws the error that ended it early.
    public func get() throws(KazasuError) -> CardDump {
        if let error { throw error }
        return dump
    }
}

/// The systems of a card, and why the list is incomplete if it is.
public struct ScanResult: PartialResult, Hashable, Sendable {
    /// The systems in the card's order, then those that it does not list.
    public var systems: [SystemScan]
    /// Why the scan ended early; `nil` if it did not.
    public var error: KazasuError?

    package var isEmpty: Bool { systems.allSatisfy(\.nodes.isEmpty) }

    /// Returns the systems, or throws the error that ended the scan early.
    public func get() throws(KazasuError) -> [SystemScan] {
        if let error { throw error }
        return systems
    }
}

/// Which commands a card answers, and why the list is incomplete if it is.
public struct ProbeResult: PartialResult, Hashable, Sendable {
    /// The commands by code.
    public var commands: [ProbedCommand]
    /// Why it ended early; `nil` if it did not.
    public var error: KazasuError?

    package var isEmpty: Bool { commands.isEmpty }

    /// Returns the commands, or throws the error that ended the probe early.
    public func get() throws(KazasuError) -> [ProbedCommand] {
        if let error { throw error }
        return commands
    }
}

/// Chosen services of one system, and why some of them are incomplete if they are.
public struct ReadResult: PartialResult, Hashable, Sendable {
    /// The system with the services that were read.
    public var system: SystemDump
    /// Why the card refused whole services.
    public var refusals: [ServiceCode: RefusalReason]
    /// Why the card refused single blocks.
    public var absent: [ServiceCode: [UInt16: RefusalReason]]
    /// Why reading ended early; `nil` if it did not.
    public var error: KazasuError?

    /// A refusal is an answer, too.
    package var isEmpty: Bool {
        system.services.allSatisfy(\.blocks.isEmpty) && refusals.isEmpty && absent.isEmpty
    }

    /// Whether everything that was requested was read.
    public var isComplete: Bool { error == nil && refusals.isEmpty && absent.isEmpty }

    /// Returns the system if everything that was requested was read.
    ///
    /// - Throws: ``error``; ``KazasuError/refused(_:_:)`` for the first service with a block that the card refused.
    public func get() throws(KazasuError) -> SystemDump {
        if let error { throw error }
        for service in system.services.map(\.code).sorted() {
            let block = absent[service]?.min { $0.key < $1.key }
            if let refusal = refusals[service] ?? block?.value { throw .refused(service, refusal) }
        }
        return system
    }
}

extension Card {
    /// Reads every block, page and file that needs no key.
    ///
    /// ```swift
    /// let result = try card.dump(resuming: earlier) { print("\($0.blocks) blocks") }
    /// if let error = result.error { print("incomplete:", error) }
    /// ```
    ///
    /// - Parameters:
    ///   - selection: the systems and services of a FeliCa card to read.
    ///   - earlier: an incomplete dump of the same card; what it contains is not read again.
    ///   - progress: called while a FeliCa card is read.
    /// - Returns: what was read, also if the card leaves early.
    /// - Throws: ``KazasuError/wrongCard(_:)`` if nothing can be read from this kind of card, or if it is not the card
    ///   of `earlier`; ``DumpResult/error`` if nothing was read.
    public func dump(
        _ selection: DumpSelection = .everything, resuming earlier: CardDump? = nil,
        progress: @escaping (ReadingProgress) -> Void = { _ in }
    ) throws(KazasuError) -> DumpResult {
        try dump(selection, credential: nil, resuming: earlier, progress: progress).unlessEmpty()
    }

    /// Reads a dump, with the key of a Type 2 Tag also its protected pages; the dump never contains the key.
    ///
    /// - Parameters:
    ///   - layouts: what the nodes of a FeliCa card are predicted from; they do not change the dump.
    ///   - keyring: the owner's keys for services of a FeliCa Standard.
    /// - Throws: the errors of ``dump(_:resuming:progress:)``, and ``KazasuError/tag(_:)`` if the tag does not accept
    ///   the key.
    package func dump(
        _ selection: DumpSelection, credential: TagCredential?, resuming earlier: CardDump?,
        layouts: CardLayouts = .shipped, keyring: StandardKeyring? = nil,
        progress: @escaping (ReadingProgress) -> Void
    ) throws(KazasuError) -> DumpResult {
        let dumper = try dumper(selection, credential, earlier, layouts, keyring, progress)
        if let earlier, !dumper.isSameCard(earlier) { throw .wrongCard(WrongCard(picc, .otherThanDump)) }
        let result = dumper.dump()
        return DumpResult(
            dump: result.dump, error: result.interruption.map { KazasuError($0) }, scans: result.scans)
    }

    /// What reads a dump of this kind of card.
    private func dumper(
        _ selection: DumpSelection, _ credential: TagCredential?, _ earlier: CardDump?, _ layouts: CardLayouts,
        _ keyring: StandardKeyring?, _ progress: @escaping (ReadingProgress) -> Void
    ) throws(KazasuError) -> any Dumper {
        if let session = feliCaSession, credential == nil {
            return CardDumper(
                session: session, selection: selection, resuming: earlier, layouts: layouts, keyring: keyring,
                progress: progress)
        }
        switch tag {
        case .type2(let tag):
            do throws(TagError) {
                switch credential {
                case .key(let key, let rules)?: try tag.authenticate(key, rules)
                case .desfire(let key)?:
                    throw try tag.product()?.takesKey == true ? TagError.key(key.misplaced) : TagError.takesNoKey
                case .password?, nil: break
                }
            } catch {
                throw KazasuError(error)
            }
            return Type2Dumper(tag: tag, resuming: earlier)
        case .card(_, let session) where credential == nil:
            return OpenFileDumper(session: session, identity: identity, resuming: earlier)
        case nil: throw .wrongCard(reader.wrongCard(found, wanted: credential == nil ? .any : .tag))
        default: throw .tag(.takesNoKey)
        }
    }

    /// Lists all systems, areas and services of a FeliCa card.
    ///
    /// - Parameter progress: called for each system while it is scanned.
    /// - Returns: what was found, also if the card leaves early.
    /// - Throws: ``KazasuError/wrongCard(_:)`` for a card of another kind; ``ScanResult/error`` if no node was found.
    public func scan(
        progress: @escaping (ReadingProgress) -> Void = { _ in }
    ) throws(KazasuError) -> ScanResult {
        try scan(layouts: .shipped, progress: progress).unlessEmpty()
    }

    /// Scans the card as ``scan(progress:)`` does.
    ///
    /// - Parameter layouts: what the nodes are predicted from; without layouts, each is asked for. The result is the same.
    package func scan(
        layouts: CardLayouts, progress: @escaping (ReadingProgress) -> Void
    ) throws(KazasuError) -> ScanResult {
        let scanner = CardScanner(session: try feliCaOrWrong(), layouts: layouts, progress: progress)
        let result = scanner.scan()
        return ScanResult(systems: result.systems, error: result.interruption.map { KazasuError($0) })
    }

    /// Asks for the versions of AES keys, which Request Service v2 tells apart from those of DES. No key is sent.
    ///
    /// - Returns: the versions by system, for each that has keys of AES, and why asking ended early, if it did.
    package func aesKeyVersions(
        of scans: [SystemScan]
    ) throws(KazasuError) -> (versions: [SystemHandle: [NodeCode: KeyVersion]], error: KazasuError?) {
        let session = try feliCaOrWrong()
        var versions: [SystemHandle: [NodeCode: KeyVersion]] = [:]
        do throws(ReadingError) {
            for scan in scans { versions[scan.system] = try session.aesKeyVersions(of: scan) }
        } catch {
            return (versions, KazasuError(error))
        }
        return (versions, nil)
    }

    /// Asks a FeliCa card which commands it answers; nothing is written, and no key is used.
    ///
    /// Every command that it does not know costs the longest time that its PMm allows, twice.
    ///
    /// - Returns: the commands by code, and why it ended early, if it did.
    /// - Throws: ``KazasuError/wrongCard(_:)`` for a card of another kind; ``ProbeResult/error`` if nothing is known of any command.
    public func probeCommands() throws(KazasuError) -> ProbeResult {
        try probe().unlessEmpty()
    }

    /// Asks the card as ``probeCommands()`` does.
    ///
    /// - Returns: the commands as well if it ended before the first.
    package func probe() throws(KazasuError) -> ProbeResult {
        let result = CommandProbe(session: try feliCaOrWrong()).run()
        return ProbeResult(commands: result.commands, error: result.interruption.map { KazasuError($0) })
    }

    /// Reads services of the system that was found, in as few commands as possible.
    ///
    /// - Parameters:
    ///   - services: services that need no key.
    ///   - blocks: the numbers of the blocks to read of each; `nil` for all.
    /// - Returns: what was read, also if the card refuses a part or leaves early.
    /// - Throws: ``KazasuError/wrongCard(_:)`` for a card without FeliCa; ``ReadResult/error`` if the card gave no block and refused none.
    public func read(_ services: [ServiceCode], blocks: [UInt16]? = nil) throws(KazasuError) -> ReadResult {
        try readServices(services, blocks: blocks).unlessEmpty()
    }

    /// Reads services as ``read(_:blocks:)-([ServiceCode],_)`` does.
    ///
    /// - Returns: the services as well if the card left before the first block.
    package func readServices(_ services: [ServiceCode], blocks: [UInt16]?) throws(KazasuError) -> ReadResult {
        let session = try feliCaOrWrong()
        let target = session.target
        let code = target.requestData.map { SystemCode(rawValue: $0) } ?? found.system ?? .any
        let result = session.read(
            services.map { ServiceBlocks($0, blocks.map { .these($0) } ?? .all(expected: nil)) },
            of: SystemHandle(code: code, idm: target.idm, pmm: target.pmm))
        return ReadResult(
            system: SystemDump(
                systemCode: code, idm: target.idm, pmm: target.pmm, services: result.services),
            refusals: result.refusals, absent: result.absent, error: result.interruption.map { KazasuError($0) })
    }

    /// Reads services of the system that was found, those that need a key with the owner's keys. Nothing is sent if there is no key for one of them.
    ///
    /// - Returns: what was read, and how the reading of each service that needs a key ended.
    /// - Throws: ``KazasuError/wrongCard(_:)`` for a card without FeliCa.
    package func read(
        _ services: [ServiceCode], blocks: [UInt16]?, keys keyring: StandardKeyring
    ) throws(KazasuError) -> (result: ReadResult, ends: [ServiceCode: StandardReading.End]) {
        let session = try feliCaOrWrong()
        let target = session.target
        let code = target.requestData.map { SystemCode(rawValue: $0) } ?? found.system ?? .any
        let keyed = services.filter(\.requiresAuthentication)
        var result = ReadResult(
            system: SystemDump(systemCode: code, idm: target.idm, pmm: target.pmm), refusals: [:], absent: [:],
            error: nil)
        if let first = keyed.first, !SystemHandle(code: code, idm: target.idm, pmm: target.pmm).isStandard {
            return (result, [first: .otherCard])
        }
        let without = keyed.first { !keyring.keys.hasKey(of: $0.node, in: code, card: target.idm) }
        if let without { return (result, [without: .failed(KeyFailure(.noKey, without.node))]) }
        let open = services.filter { !$0.requiresAuthentication }
        if !open.isEmpty {
            result = try readServices(open, blocks: blocks)
            guard result.error == nil else { return (result, [:]) }
        }
        guard !keyed.isEmpty else { return (result, [:]) }
        let read = session.read(
            keyed.map { ServiceBlocks($0, blocks.map { .these($0) } ?? .all(expected: nil)) },
            of: SystemHandle(code: code, idm: target.idm, pmm: target.pmm), keys: keyring)
        result.system.services += read.services
        result.system.services.sort { one, other in
            (services.firstIndex(of: one.code) ?? 0) < (services.firstIndex(of: other.code) ?? 0)
        }
        result.system.issue = read.issue
        result.refusals.merge(read.refusals) { $1 }
        result.absent.merge(read.absent) { $1 }
        result.error = read.interruption.map { KazasuError($0) }
        return (result, read.ends)
    }

    /// Reads one service of the system that was found.
    ///
    /// - Parameters:
    ///   - service: a service that needs no key.
    ///   - blocks: the numbers of the blocks to read.
    /// - Returns: the blocks, in the order of their numbers.
    /// - Throws: ``KazasuError/wrongCard(_:)`` for a card without FeliCa, ``KazasuError/refused(_:_:)`` if the card
    ///   refuses any of the blocks, ``KazasuError/reading(_:)``.
    public func read(_ service: ServiceCode, blocks: Range<UInt16>) throws(KazasuError) -> [Block] {
        try read([service], blocks: Array(blocks)).get().services.flatMap { $0.blocks.map(\.block) }
    }

    private func feliCaOrWrong() throws(KazasuError) -> CardSession {
        guard let feliCaSession else { throw .wrongCard(WrongCard(picc, .kind(wanted: .feliCa))) }
        return feliCaSession
    }
}
