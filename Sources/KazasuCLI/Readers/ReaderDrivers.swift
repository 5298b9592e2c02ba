// SPDX-License-Identifier: Apache-2.0

import LibNFCReader
import NFCTransport
import PaSoRiReader
import PCSCReader
import SystemDevices
import USBTransport

/// The drivers of real readers.
///
/// The order is that in which readers are listed and the first ready one is taken.
enum ReaderDrivers {
    static let all: [any ReaderDriver] = [PaSoRiDriver(), LibNFCDriver(), PCSCDriver()]

    /// Every reader that is plugged in, usable or not.
    static func list() -> [ReaderListing] {
        all.flatMap { $0.list() }
    }

    /// What tells that readers were plugged in or out.
    static func notices(_ cancellation: CancellationToken) -> any DeviceNotices {
        SystemNotices(USBNotices(cancellation: cancellation))
    }

    /// The first reader that can be opened without a further word, else everything that was found.
    ///
    /// A driver is asked only when those before it have none: asking one may start a service that takes readers away
    /// from the others.
    static func firstReady() -> (ready: ReaderListing?, all: [ReaderListing]) {
        var found: [ReaderListing] = []
        for driver in all {
            let listings = driver.list()
            if let ready = listings.first(where: { $0.state == .ready }) { return (ready, found + listings) }
            found += listings
        }
        return (nil, found)
    }

    /// Opens the reader that an ID names.
    ///
    /// - Parameter recorder: gets what passes between the computer and the reader.
    /// - Returns: `nil` when it is no driver's.
    static func open(
        _ id: String, cancellation: CancellationToken, recorder: LinkRecorder? = nil
    ) throws(TransportError) -> (any Reader)? {
        // libnfc has a driver of its own that is called pcsc; it is in no build of Debian's and reads no FeliCa.
        var drivers: [any ReaderDriver] = [PCSCDriver()] + all
        if let recorder {
            drivers = [
                PCSCDriver(recorder: recorder), PaSoRiDriver(recorder: recorder), LibNFCDriver(recorder: recorder),
            ]
        }
        for driver in drivers {
            if let reader = try driver.open(id, cancellation: cancellation) { return reader }
        }
        return nil
    }
}
