// SPDX-License-Identifier: Apache-2.0

/// A reader that prepares for a long job, or one that wraps such a reader.
///
/// A PN532 on a serial line raises the line's speed after a few exchanges. A job that is known to be long is faster if the line
/// is raised before the first search.
package protocol LongJobReader: Reader {
    /// Prepares for dozens of exchanges, from the next search on.
    func beginLongJob()
}

extension Reader {
    /// Announces dozens of exchanges; most readers need not know.
    package func expectLongJob() { (self as? any LongJobReader)?.beginLongJob() }
}
