// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
package import CardModel
internal import CardReading
internal import FeliCa
internal import ReaderCore

extension Card {
    /// Reads only the blocks that the decoders need, in the order of the decoders, and decodes them.
    ///
    /// - Parameters:
    ///   - decoders: the decoders to try, in this order.
    ///   - all: whether to continue after the first report.
    ///   - keyring: the owner's keys, for services that the card refuses without one.
    ///   - reads: the blocks to read for a decoder: its ``CardDecoder/balanceRead`` or ``CardDecoder/historyReads``.
    ///   - decode: makes a report from what was read.
    /// - Returns: the reports in the decoders' order, at least one.
    /// - Throws: ``KazasuError/wrongCard(_:)`` if no decoder knows the card; otherwise the reason why the first decoder
    ///   that knows it made no report.
    package func reports<Report>(
        _ decoders: [any CardDecoder], all: Bool, keys keyring: StandardKeyring? = nil,
        reads: (any CardDecoder) -> [ReadRequest],
        decode: (any CardDecoder, CardDump) throws(CardDecodingError) -> Report
    ) throws(KazasuError) -> [Report] {
        let codes = DecoderRegistry(decoders).systems
        guard let session = feliCaSession, let first = found.system else {
            throw .wrongCard(WrongCard(picc, .kind(wanted: .feliCa)))
        }
        var reports: [Report] = []
        var failure: KazasuError?
        for code in try systems(codes, first, all: all, session) {
            guard let system = try system(code, first, session) else { continue }
            for decoder in decoders where decoder.system == code {
                do throws(KazasuError) {
                    var dump = try read(reads(decoder), of: system, session, keys: keyring)
                    for code in decoder.companions {
                        guard let found = try self.system(code, first, session) else { continue }
                        dump.systems.append(SystemDump(systemCode: code, idm: found.idm, pmm: found.pmm))
                    }
                    do throws(CardDecodingError) {
                        reports.append(try decode(decoder, dump))
                    } catch {
                        throw .decoding(error)
                    }
                    if !all { return reports }
                } catch {
                    guard error.isOfOneDecoder else { throw error }
                    // A service that the card has but refuses is more informative than one it lacks.
                    if failure == nil || failure?.isNoSuchService == true { failure = error }
                }
            }
        }
        if !reports.isEmpty { return reports }
        guard let failure else {
            let reason = WrongCard.Reason.noSystem(codes.count <= CardQuery.polledByName ? codes : [])
            throw .wrongCard(WrongCard(picc, names: purseNames(first, session), reason))
        }
        guard failure.isNoSuchService else { throw failure }
        throw .wrongCard(
            WrongCard(
                picc, names: purseNames(first, session),
                .noService(first == .any ? nil : first, kinds: decoders.map(\.kind))))
    }

    /// The name of the first purse on the card, its brand where that is known; empty if the card has none that is known.
    private func purseNames(_ first: SystemCode, _ session: CardSession) -> [LocalizedText] {
        guard let listed = try? session.systemCodes() else { return [] }
        for decoder in DecoderRegistry.standardPurses where listed.contains(decoder.system) {
            guard let system = try? system(decoder.system, first, session),
                let present = try? session.present([decoder.balanceRead.service], in: system), !present.isEmpty
            else { continue }
            let brand = try? brand(of: decoder.kind)
            return [brand?.name ?? decoder.name]
        }
        return []
    }

    /// The brand or kind of the first purse on the card; `nil` if it has none that is known.
    package func purseName() -> LocalizedText? {
        guard let session = feliCaSession, let first = found.system else { return nil }
        return purseNames(first, session).first
    }

    /// Reads what tells the brand of the card.
    ///
    /// - Parameter kind: the kind of card.
    /// - Returns: the brand, or `nil` if it is unknown.
    /// - Throws: ``KazasuError/reading(_:)``.
    public func brand(of kind: CardKind) throws(KazasuError) -> CardBrand? {
        guard let decoder = DecoderRegistry.standard.decoder(of: kind) else { return nil }
        var dump = CardDump(card: identity)
        if !decoder.brandReads.isEmpty {
            guard let session = feliCaSession, let first = found.system,
                let system = try system(decoder.system, first, session)
            else { return nil }
            dump = try read(decoder.brandReads.filter { !$0.blocks.isEmpty }, of: system, session)
            let asked = decoder.brandReads.filter(\.blocks.isEmpty).map(\.service)
            do throws(ReadingError) {
                let present = try session.present(asked, in: system)
                for place in dump.systems.indices {
                    dump.systems[place].services += present.map { ServiceDump(code: $0, state: .skipped) }
                }
            } catch {
                throw KazasuError(error)
            }
        }
        return decoder.brand(dump)
    }

    /// The systems to try, in the decoders' order.
    ///
    /// If the system already polled for is enough, the card is not asked again.
    private func systems(
        _ codes: [SystemCode], _ first: SystemCode, all: Bool, _ session: CardSession
    ) throws(KazasuError) -> [SystemCode] {
        let areFew = codes.count <= CardQuery.polledByName
        if codes.contains(first), areFew || !all {
            return [first] + (areFew ? codes.filter { $0 != first } : [])
        }
        do throws(ReadingError) {
            let listed = try session.systemCodes()
            return codes.filter { listed.contains($0) }
        } catch {
            throw KazasuError(error)
        }
    }

    private func system(
        _ code: SystemCode, _ first: SystemCode, _ session: CardSession
    ) throws(KazasuError) -> SystemHandle? {
        let target = session.target
        if code == first { return SystemHandle(code: code, idm: target.idm, pmm: target.pmm) }
        do throws(ReadingError) {
            guard let found = try session.poll(code), found.idm.isSameCard(as: target.idm) || found.pmm == target.pmm
            else {
                return nil
            }
            return SystemHandle(code: code, idm: found.idm, pmm: found.pmm)
        } catch {
            throw KazasuError(error)
        }
    }

    /// Returns a dump of only these blocks. Keys are used only for a service that the card refuses without one.
    private func read(
        _ requests: [ReadRequest], of system: SystemHandle, _ session: CardSession, keys keyring: StandardKeyring? = nil
    ) throws(KazasuError) -> CardDump {
        let outcome = session.read(requests.map { $0.blocks(of: $0.service) }, of: system)
        if let interruption = outcome.interruption { throw KazasuError(interruption) }
        var opened = KeyedServices()
        if let keyring {
            let refused = requests.filter { request in
                let first = outcome.absent[request.service]?[request.blocks.lowerBound]
                return outcome.refusals[request.service] ?? first != nil
            }
            opened = try open(refused, of: system, session, keyring)
        }
        for request in requests where request.isRequired {
            if opened.requests.contains(request) { continue }
            if let error = opened.errors[request] { throw .standard(error) }
            if let refusal = outcome.refusals[request.service] ?? outcome.absent[request.service]?[0] {
                throw .refused(request.service, refusal)
            }
        }
        let replaced = Set(opened.requests.map(\.service))
        return CardDump(
            card: CardIdentity(
                technology: .felica, idm: system.idm, pmm: system.pmm, bitRate: session.target.bitRate.rawValue),
            systems: [
                SystemDump(
                    systemCode: system.code, idm: system.idm, pmm: system.pmm,
                    services: outcome.services.filter { !replaced.contains($0.code) } + opened.services)
            ])
    }

    /// What keys opened in place of services that the card refused.
    private struct KeyedServices {
        var services: [ServiceDump] = []
        /// The requests whose blocks were read.
        var requests: Set<ReadRequest> = []
        /// Why keys opened nothing for a request.
        var errors: [ReadRequest: StandardKeyError] = [:]
    }

    /// Reads refused requests from services that open the same blocks and for which there are keys.
    private func open(
        _ refused: [ReadRequest], of system: SystemHandle, _ session: CardSession, _ keyring: StandardKeyring
    ) throws(KazasuError) -> KeyedServices {
        var found = KeyedServices()
        var waiting = refused.map { request in
            let keyed = request.service.keyed.filter {
                keyring.keys.hasKey(of: $0.node, in: system.code, card: session.target.idm)
            }
            return (request: request, services: keyed[...])
        }
        while true {
            waiting.removeAll { found.requests.contains($0.request) || $0.services.isEmpty }
            guard !waiting.isEmpty else { return found }
            let tried = waiting.indices.compactMap { index in
                waiting[index].services.popFirst().map { (waiting[index].request, $0) }
            }
            let result = session.read(tried.map { $0.blocks(of: $1) }, of: system, keys: keyring)
            if let interruption = result.interruption { throw KazasuError(interruption) }
            for (request, code) in tried {
                guard let end = result.ends[code] else { continue }
                if let error = StandardKeyError(end, code) {
                    if case .absent = error { continue }
                    found.errors[request] = found.errors[request] ?? error
                } else if let service = result.services.first(where: { $0.code == code }), !service.blocks.isEmpty {
                    found.services.append(service)
                    found.requests.insert(request)
                }
            }
        }
    }
}

extension ReadRequest {
    /// These blocks of the service, or of another one that opens the same.
    fileprivate func blocks(of service: ServiceCode) -> ServiceBlocks {
        ServiceBlocks(service, blocks.count == 1 ? .these(Array(blocks)) : .first(blocks.count))
    }
}

extension ServiceCode {
    /// The services that open the same blocks with a key, those that only read them first.
    fileprivate var keyed: [ServiceCode] {
        let codes = [0, 2, 4, 6].map { ServiceCode(rawValue: rawValue & 0xFFF8 | $0) }
            .filter { $0.overlapGroup == overlapGroup && $0.kind == kind }
        return codes.filter { $0.access == .readOnly } + codes.filter { $0.access != .readOnly }
    }
}

extension KazasuError {
    /// Whether another decoder may still know the card.
    fileprivate var isOfOneDecoder: Bool {
        switch self {
        case .refused, .decoding, .standard: true
        default: false
        }
    }

    /// Whether the card has the system but not the service.
    fileprivate var isNoSuchService: Bool {
        if case .refused(_, .flags(let flags)) = self { flags.flag2 == .noSuchNode } else { false }
    }
}
