// SPDX-License-Identifier: Apache-2.0

package import KazasuLedger
package import TestSupport

/// Ledgers in a folder that is gone after the test.
package struct LedgerFolder {
    package let folder: TemporaryFolder

    package init() throws { folder = try TemporaryFolder() }

    package var path: String { folder.path + "/ledger.sqlite" }

    /// The ledger of the folder, on a day of 2026.
    package func open(_ change: (inout Ledger.Options) -> Void = { _ in }) throws -> Ledger {
        var options = Ledger.Options()
        // The ledger holds the folder for as long as it lives.
        options.clock = { [folder] in folder.path.isEmpty ? 0 : 1_795_000_000 }
        change(&options)
        return try Ledger.open(path, options: options)
    }
}
