// SPDX-License-Identifier: Apache-2.0

import CardModel
import NFCTransport
import ReaderDiagnosis
import SystemDevices

/// A line of `kazasu readers`: what a driver lists, or a reader that is known and that no driver can use.
struct ListedReader: Equatable, Identifiable {
    /// What tells it from the others: what `--reader` takes, or for one that no driver can use, where it is plugged in.
    let id: String
    /// What `--reader` takes; `nil` when nothing does.
    let readerID: String?
    let name: String?
    let state: ReaderListing.State
    let isConfigured: Bool
    /// What mends it; `nil` when it can be used.
    let hint: String?

    /// Every reader that is plugged in.
    static func all() -> [ListedReader] {
        let reports = Doctor(Machine()).readers()
        let listings = ReaderDrivers.list()
        let strangers = reports.filter { $0.model.driver == nil }
        return listings.map { listing in
            ListedReader(listing, reports.first { $0.isNamed(by: listing.id) })
        } + strangers.map(ListedReader.init)
    }

    private init(_ listing: ReaderListing, _ report: ReaderReport?) {
        id = listing.id
        readerID = listing.id
        name = listing.name
        state = listing.state
        isConfigured = listing.isConfigured
        if case .unavailable(let reason, _) = listing.state {
            hint = report?.fault?.remedy?[Language.current] ?? Failure.hint(reason)
        } else {
            hint = nil
        }
    }

    private init(_ report: ReaderReport) {
        id = report.device.node
        readerID = nil
        name = report.model.name
        let detail = report.model.obstacle?[Language.current] ?? ""
        state = .unavailable(.unsupported, detail: detail)
        isConfigured = false
        hint = report.fault?.remedy?[Language.current]
    }
}
