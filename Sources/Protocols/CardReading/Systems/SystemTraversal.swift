// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import FeliCa
internal import ReaderCore

/// Visits all systems of a card, each polled for its own IDm before it is visited.
///
/// If a card is removed early, whole systems have been read by then, starting with the first. Codes that are polled for
/// although the card did not list them come before the last listed system: after an unanswered Polling the field
/// contains no selected card, and the Polling for that system selects it again and shows that it is still there. On a
/// phone they come last, since they may open its wallet.
final class SystemTraversal {
    /// The codes of the systems that the card listed; empty if it was not asked or cannot list them.
    private(set) var listed: [SystemCode] = []
    /// The codes of the listed systems that were not visited, if the walk ended early.
    private(set) var unvisited: [SystemCode] = []
    /// Whether the walk ended before the list of systems was known.
    private(set) var isListIncomplete = true
    /// Whether the walk ended while the first of ``unvisited`` was being visited.
    private(set) var isVisiting = false
    private let session: CardSession
    private let selection: [SystemCode]?
    private let known: (SystemCode) -> SystemHandle?

    /// Systems that cards have without listing them (Proxmark3, felica-tool).
    static let unlisted: [SystemCode] = [.ndef, .lite, .secureID]
    /// Systems to try on cards that cannot list any (metrodroid; the last two cost a Polling each and are common).
    static let fallback: [SystemCode] = [.octopus, .shenzhenTong, .transit, .commonArea]

    /// - Parameters:
    ///   - selection: only these systems, without requesting the list; `nil` for all.
    ///   - known: a system that need not be polled again.
    init(
        session: CardSession, selection: [SystemCode]? = nil,
        known: @escaping (SystemCode) -> SystemHandle? = { _ in nil }
    ) {
        self.session = session
        self.selection = selection
        self.known = known
    }

    /// Calls `visit` for every system.
    func run(_ visit: (SystemHandle) throws(ReadingError) -> Void) throws(ReadingError) {
        if let selection { return try run(selection, visit) }
        let first = try firstSystem()
        let places = try listedSystems(first)
        let codes = places?.map(\.code)
        listed = codes ?? []
        unvisited = codes ?? [first.code]
        var visited: Set<SystemCode> = []
        var unlisted: [SystemCode]?
        // A card with one system is polled again before it is visited, see below.
        if unvisited.count > 1, known(first.code) == nil { try session.raiseBitRate(for: first) }
        for (number, code) in places ?? [(0, first.code)] {
            if unvisited.count == 1, places != nil { unlisted = try unlistedSystems(before: code, first) }
            let handle = try handle(for: code, number: number, first: first)
            if unlisted != nil, handle == first {
                guard try select(first) else { throw .cardLost }
            }
            isVisiting = true
            try visit(handle)
            isVisiting = false
            visited.insert(code)
            unvisited.removeFirst()
        }
        // An authenticated system answers no Polling, and after one without an answer the reader may have lost the card.
        let answersPolling = !session.staysAuthenticated
        if !answersPolling {
            guard try session.isPresent(first) else { throw .cardLost }
        }
        let others = unlisted ?? SystemTraversal.unlisted + (codes == nil ? SystemTraversal.fallback : [])
        for code in others where !visited.contains(code) {
            var handle = known(code)
            if handle == nil { handle = try answer(to: code) }
            if let handle { try visit(handle) }
        }
        // The last Pollings were unanswered, or the card was already gone: only another Polling can tell.
        if answersPolling, unlisted?.isEmpty != true {
            guard try session.isPresent(first) else { throw .cardLost }
        }
        isListIncomplete = false
    }

    /// Polls for the systems that cards do not list, before the last one that this card lists.
    ///
    /// - Returns: those that the card has; `nil` if they have to come last.
    private func unlistedSystems(before last: SystemCode, _ first: SystemHandle) throws(ReadingError) -> [SystemCode]? {
        guard !PhoneModel.isPhone(first.pmm), known(last) == nil else { return nil }
        do throws(ReadingError) {
            var found: [SystemCode] = []
            for code in SystemTraversal.unlisted where !listed.contains(code) {
                var handle = known(code)
                if handle == nil { handle = try answer(to: code) }
                if handle != nil { found.append(code) }
            }
            return found
        } catch {
            // In earlier recordings they come last.
            guard case .reader(.outOfScript) = error else { throw error }
            return nil
        }
    }

    /// Returns whether the first system of the card still answers; selects it, at a higher bit rate if it can.
    private func select(_ first: SystemHandle) throws(ReadingError) -> Bool {
        for _ in 0..<3 {
            if try session.poll(first.code, raising: true)?.idm == first.idm { return true }
        }
        return false
    }

    /// Visits the chosen systems that this card has.
    private func run(
        _ codes: [SystemCode], _ visit: (SystemHandle) throws(ReadingError) -> Void
    ) throws(ReadingError) {
        unvisited = codes
        isListIncomplete = false
        for code in codes {
            let target = session.target
            let isFirst = target.requestData == code.rawValue
            let handle = isFirst ? SystemHandle(code: code, idm: target.idm, pmm: target.pmm) : try answer(to: code)
            if let handle = known(code) ?? handle {
                isVisiting = true
                try visit(handle)
                isVisiting = false
            }
            unvisited.removeFirst()
        }
    }

    /// Returns the system that answered when the card was found; requests its code if the Polling did not return it.
    private func firstSystem() throws(ReadingError) -> SystemHandle {
        var target = session.target
        if target.requestData == nil, let again = try session.poll(.any, requestCode: 1), again.pmm == target.pmm {
            target = again
        }
        let code = target.requestData.map { SystemCode(rawValue: $0) } ?? .any
        return SystemHandle(code: code, idm: target.idm, pmm: target.pmm)
    }

    /// Returns the systems with their places in the card's list; `nil` if the card does not support Request System Code.
    private func listedSystems(
        _ first: SystemHandle
    ) throws(ReadingError) -> [(place: Int, code: SystemCode)]? {
        guard first.pmm.mayAnswer(RequestSystemCode.code) else { return nil }
        let reply = try session.ask(first) { felica throws(FeliCaError) in try felica.requestSystemCode() }
        guard case .value(let codes) = reply else { return nil }
        let systems = codes.enumerated().filter { place, code in
            code.isSystem && !codes.prefix(place).contains(code)
        }
        return systems.isEmpty ? nil : systems.map { ($0.offset, $0.element) }
    }

    /// The high nibble of the IDm is the position in the list, but phones may have other IDms: each system is polled.
    ///
    /// Only a system that cannot be polled by its code gets the derived IDm.
    private func handle(
        for code: SystemCode, number: Int, first: SystemHandle
    ) throws(ReadingError) -> SystemHandle {
        if code == first.code, Int(first.idm.systemNumber) == number { return first }
        if let handle = known(code) { return handle }
        let derived = SystemHandle(
            code: code, idm: first.idm.inSystem(UInt8(truncatingIfNeeded: number)), pmm: first.pmm)
        for _ in 0..<3 {
            // The first system was read.
            if let found = try session.poll(code, raising: number > 0), SystemTraversal.isSameCard(found, first) {
                return SystemHandle(code: code, idm: found.idm, pmm: found.pmm)
            }
        }
        return derived
    }

    /// Returns whether an answer to a Polling comes from the card of `first`.
    ///
    /// On phones, the systems may have unrelated IDms; otherwise another card of the same kind would be
    /// mistaken for this one.
    private static func isSameCard(_ found: FeliCaTarget, _ first: SystemHandle) -> Bool {
        found.idm.isSameCard(as: first.idm)
            || found.pmm == first.pmm && PhoneModel.isPhone(found.pmm)
    }

    /// Returns the system if this card, and not another in the field, answers to exactly this code.
    ///
    /// One unanswered Polling is enough if nothing was lost so far.
    private func answer(to code: SystemCode) throws(ReadingError) -> SystemHandle? {
        for _ in 0..<(session.isNoisy ? 3 : 1) {
            guard let found = try session.poll(code, requestCode: 1), found.idm.isSameCard(as: session.target.idm),
                found.requestData == nil || found.requestData == code.rawValue
            else { continue }
            return SystemHandle(code: code, idm: found.idm, pmm: found.pmm)
        }
        return nil
    }
}

extension SystemCode {
    /// Whether it may be a system's: 0000 is none, and FFFF stands for any.
    var isSystem: Bool { rawValue != 0 && self != .any }
}
