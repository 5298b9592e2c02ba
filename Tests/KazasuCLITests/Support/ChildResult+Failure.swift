// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

extension ChildResult {
    /// Whether it ended by itself with this status.
    func hasEnded(_ status: Int32) -> Bool { end == .exited(status) }

    /// The lines of standard error.
    var messages: [Substring] { errors.split(separator: "\n") }

    /// Checks that it failed as the contract says, in the words for people: one line that says what, one that says
    /// what to do, nothing of what only a programmer could read, and no IDm.
    ///
    /// - Parameter notes: how many lines come before them.
    func expectError(
        _ status: Int32, _ what: String = "", after notes: Int = 0, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(end == .exited(status), "\(errors)", sourceLocation: sourceLocation)
        #expect(messages.count == 2 + notes, "\(errors)", sourceLocation: sourceLocation)
        #expect(messages.first?.hasPrefix("kazasu: ") == true, "\(errors)", sourceLocation: sourceLocation)
        #expect(
            messages.last.map { $0.hasPrefix("  hint: ") || $0.hasPrefix("  ヒント: ") } == true, "\(errors)",
            sourceLocation: sourceLocation)
        #expect(errors.contains(what), "\(errors)", sourceLocation: sourceLocation)
        expectNoPersonalData(sourceLocation: sourceLocation)
    }

    /// Checks that no IDm of any card of the tests, nor the inside of a Swift value, is in a message.
    func expectNoPersonalData(sourceLocation: SourceLocation = #_sourceLocation) {
        let idms = [Card.idm, "0101031234567890", "01120312abcd0042", "0101c0de00080085", "012e4cd2c0ffee42"]
        for idm in idms {
            #expect(!errors.lowercased().contains(idm.dropFirst(2)), "\(errors)", sourceLocation: sourceLocation)
        }
        // A random name of a folder may have the three letters.
        for inside in [/errno:/, /Error\(/, /Optional\(/, /\bnil\b/] {
            #expect(!errors.contains(inside), "\(errors)", sourceLocation: sourceLocation)
        }
    }

    /// The one error document on standard error, as it must be with `--json`.
    func errorDocument(sourceLocation: SourceLocation = #_sourceLocation) throws -> JSONCursor {
        #expect(messages.count == 1, "\(errors)", sourceLocation: sourceLocation)
        #expect(
            errors.hasPrefix(#"{"schema":"kazasu.error/1","status":"#), "\(errors)", sourceLocation: sourceLocation)
        expectNoPersonalData(sourceLocation: sourceLocation)
        return JSONCursor(try JSONValue(parsing: Array(errors.utf8)))
    }
}
