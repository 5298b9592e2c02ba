// SPDX-License-Identifier: Apache-2.0

package import CardModel
internal import FeliCa
internal import ReaderCore

/// Requests the key versions of nodes, 32 per command and each once.
final class KeyVersionFinder {
    /// The versions by code; a node that the card did not report is absent.
    private(set) var found: [NodeCode: KeyVersion] = [:]
    private let session: CardSession
    private let system: SystemHandle
    private var answered: Set<NodeCode> = []
    /// The nodes of the command that got no answer.
    private var unanswered: Set<NodeCode>?

    init(session: CardSession, system: SystemHandle) {
        self.session = session
        self.system = system
    }

    /// Requests the nodes that were not requested before, up to a command that gets no answer.
    ///
    /// - Returns: whether the card answered all commands.
    func request(_ codes: [NodeCode]) throws(ReadingError) -> Bool {
        for batch in codes.filter({ !answered.contains($0) }).batches(of: session.nodesPerRequest) {
            guard case .value = try send(batch) else { return false }
        }
        return true
    }

    /// Returns the versions of all nodes that were requested, including these.
    ///
    /// Some cards (IC 24) do not answer if one node of a command has an attribute unknown to them; the command is then
    /// halved until that node is alone. A card that never answers does not support the command.
    func versions(of codes: [NodeCode]) throws(ReadingError) -> [NodeCode: KeyVersion] {
        guard session.target.pmm.mayAnswer(RequestService.code) else { return found }
        let codes = codes.filter { !answered.contains($0) }
        var waiting = Array(codes.batches(of: session.nodesPerRequest).reversed())
        var silences = 0
        while let batch = waiting.popLast() {
            // An answer that did not come for these nodes does not come for them and more.
            let isKnown = unanswered?.isSubset(of: batch) ?? false
            switch isKnown ? .silent : try send(batch) {
            case .value, .refused: continue
            case .silent:
                silences += 1
                guard !answered.isEmpty || silences < 6 else { return found }
                guard batch.count > 1 else { continue }
                let middle = batch.startIndex + batch.count / 2
                waiting.append(batch[middle...])
                waiting.append(batch[..<middle])
            }
        }
        return found
    }

    private func send(_ batch: ArraySlice<NodeCode>) throws(ReadingError) -> CardReply<[KeyVersion?]> {
        let reply = try session.ask(system) { felica throws(FeliCaError) in
            try felica.requestService(Array(batch))
        }
        switch reply {
        case .value(let versions):
            answered.formUnion(batch)
            for (code, version) in zip(batch, versions) { found[code] = version }
        case .silent: unanswered = Set(batch)
        case .refused: break
        }
        return reply
    }
}

extension CardSession {
    /// Returns those of the services that a system has; none if the card does not support Request Service.
    ///
    /// - Throws: ``ReadingError`` if the card left or the reader failed.
    package func present(_ services: [ServiceCode], in system: SystemHandle) throws(ReadingError) -> [ServiceCode] {
        let versions = try KeyVersionFinder(session: self, system: system)
            .versions(of: services.map { NodeCode(rawValue: $0.rawValue) })
        return services.filter { versions[NodeCode(rawValue: $0.rawValue)] != nil }
    }
}

extension Array {
    /// Returns the elements in order, `size` at a time.
    func batches(of size: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: count, by: Swift.max(1, size)).map { self[$0..<Swift.min($0 + Swift.max(1, size), count)] }
    }
}
