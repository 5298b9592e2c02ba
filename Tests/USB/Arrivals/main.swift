// SPDX-License-Identifier: Apache-2.0

import Arrivals
import Glibc
import PN53xReader
import ReaderCore
import PaSoRiReader

// Looks for the card that comes and goes before an emulated reader, as often as `KAZASU_ARRIVALS` says, or for phones and
// cards that come at random moments of a search, as often as `KAZASU_PHONES` says:
//
//     usb-arrivals READER [KIND CLOCK]
//
// CLOCK is the file of the chip's simulated time.
//
// Prints what went wrong, and ends 0 when nothing did.

let id = CommandLine.arguments.dropFirst().first ?? ""
let kind = CommandLine.arguments.dropFirst(2).first.flatMap(ArrivalFigures.Kind.init(rawValue:))
let clock = kind.flatMap { _ in CommandLine.arguments.last.flatMap(SharedClock.init) }
let pause: @Sendable (Duration) -> Void = clock?.pause ?? ThreadPause.sleep
let drivers: [any ReaderDriver] = [PaSoRiDriver(pause: pause), ACR122Driver(), LibNFCDriver()]
var opened: (any Reader)?
for driver in drivers where opened == nil { opened = try driver.open(id, cancellation: CancellationToken()) }
guard let reader = opened else {
    print("no driver knows \(id)")
    exit(64)
}
if let kind {
    guard let clock else { exit(66) }
    let figures = ArrivalFigures(kind, reader, arrivals: ArrivalFigures.arrivals, clock: clock.search)
    reader.close()
    for fault in figures.faults { print(fault) }
    figures.report("\(id) behind libusb")
    exit(figures.isMet ? 0 : 1)
}
let breaches = ArrivalSoak.breaches(reader, arrivals: ArrivalSoak.arrivals, clock: ArrivalSoak.hasty)
reader.close()
for breach in breaches { print(breach) }
ArrivalSoak.report("\(id) behind libusb", arrivals: ArrivalSoak.arrivals, breaches)
exit(breaches.isEmpty ? 0 : 1)
