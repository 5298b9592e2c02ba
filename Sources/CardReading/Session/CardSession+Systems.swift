// SPDX-License-Identifier: Apache-2.0

public import CardModel
internal import FeliCa
internal import NFCTransport

extension CardSession {
    /// The codes of the systems that the card lists, in its order; when it cannot list them, those that answer to a
    /// Polling of the ones that such cards have.
    ///
    /// - Throws: ``ReadingError`` when the card left or the reader failed.
    public func systemCodes() throws(ReadingError) -> [SystemCode] {
        let first = target.requestData.map { SystemCode(rawValue: $0) }
        if target.pmm.mayAnswer(RequestSystemCode.code) {
            let handle = SystemHandle(code: first ?? .any, idm: target.idm, pmm: target.pmm)
            let reply = try ask(handle) { felica throws(FeliCaError) in try felica.requestSystemCode() }
            if case .value(let codes) = reply, !codes.isEmpty { return codes }
        }
        var codes = first.map { [$0] } ?? []
        for code in CardWalk.fallback + CardWalk.unlisted where !codes.contains(code) {
            if let found = try poll(code), found.idm.isSameCard(as: target.idm) { codes.append(code) }
        }
        return codes
    }
}
