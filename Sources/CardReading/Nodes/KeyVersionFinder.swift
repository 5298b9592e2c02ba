// SPDX-License-Identifier: Apache-2.0

package import CardModel
internal import FeliCa
internal import NFCTransport

/// Requests the key versions of nodes, 32 per command.
struct KeyVersionFinder {
    let session: CardSession
    let system: SystemHandle

    /// Returns the versions by code; a node that the card did not report is absent.
    ///
    /// Some cards (IC 24) do not answer if one node of a command has an attribute unknown to them; the command is then
    /// halved until that node is alone. A card that never answers does not support the command.
    func versions(of codes: [NodeCode]) throws(ReadingError) -> [NodeCode: KeyVersion] {
        var found: [NodeCode: KeyVersion] = [:]
        guard session.target.pmm.mayAnswer(RequestService.code) else { return found }
        var waiting = Array(codes.batches(of: session.nodesPerRequest).reversed())
        var answered = false
        var silences = 0
        while let batch = waiting.popLast() {
            let reply = try session.ask(system) { felica throws(FeliCaError) in
                try felica.requestService(Array(batch))
            }
            switch reply {
            case .value(let versions):
                answered = true
                for (code, version) in zip(batch, versions) { found[code] = version }
            case .refused: continue
            case .silent:
                silences += 1
                guard answered || silences < 6 else { return found }
                guard batch.count > 1 else { continue }
                let middle = batch.startIndex + batch.count / 2
                waiting.append(batch[middle...])
                waiting.append(batch[..<middle])
            }
        }
        return found
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
