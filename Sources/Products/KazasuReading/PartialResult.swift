// SPDX-License-Identifier: Apache-2.0

/// What a call gives that reads many things one after the other, and the error that ended it early.
///
/// All of them fail in one way: the error is thrown if nothing was read; otherwise it comes with what was read, and `get()` throws
/// it for those who want all or nothing.
package protocol PartialResult {
    /// Why it ended early; `nil` if it did not.
    var error: KazasuError? { get }
    /// Whether nothing of the card was read.
    var isEmpty: Bool { get }
}

extension PartialResult {
    /// Returns itself if anything was read.
    ///
    /// - Throws: ``error``.
    package func unlessEmpty() throws(KazasuError) -> Self {
        if let error, isEmpty { throw error }
        return self
    }
}
