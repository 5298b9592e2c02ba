// SPDX-License-Identifier: Apache-2.0

import NFCTransport

/// What a reader did wrong, one sentence each.
final class ConformanceLog {
    var breaches: [String] = []

    func expect<Value: Equatable>(
        _ expected: Result<Value, TransportError>, _ what: String, _ work: () throws(TransportError) -> Value
    ) {
        let found = result(work)
        if found != expected { breaches.append("\(what): \(found) instead of \(expected)") }
    }

    /// Expects a failure of one kind.
    func expectError<Value>(
        _ what: String, _ isExpected: (TransportError) -> Bool, _ work: () throws(TransportError) -> Value
    ) {
        switch result(work) {
        case .success(let value): breaches.append("\(what): \(value)")
        case .failure(let error): if !isExpected(error) { breaches.append("\(what): \(error)") }
        }
    }

    private func result<Value>(_ work: () throws(TransportError) -> Value) -> Result<Value, TransportError> {
        do throws(TransportError) {
            return .success(try work())
        } catch {
            return .failure(error)
        }
    }
}
