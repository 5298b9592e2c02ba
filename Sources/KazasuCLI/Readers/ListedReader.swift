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
    ///
    /// - Parameter fault: why pcscd gives none.
    static func all(without fault: ChipCardServiceFault? = .now()) -> [ListedReader] {
        let reports = Doctor(Machine()).readers()
        let listings = ReaderDrivers.list()
        let strangers = reports.filter { $0.model.driver == nil }
        let served = fault.map { fault in
            Doctor(Machine()).readersOfService().map { ListedReader(name: $0, fault) }
        }
        return listings.filter { !ChipCardServiceFault.serves($0.id) || $0.state == .ready }.map { listing in
            ListedReader(listing, reports.first { $0.isNamed(by: listing.id) })
        } + strangers.map(ListedReader.init) + (served ?? [])
    }

    /// A reader that pcscd would serve.
    private init(name: String, _ fault: ChipCardServiceFault) {
        id = "pcsc \(name)"
        readerID = nil
        self.name = name
        state = .unavailable(fault.reason, detail: fault.message)
        isConfigured = false
        hint = fault.remedy
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
